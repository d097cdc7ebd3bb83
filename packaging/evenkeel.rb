# The formula for Homebrew. `.ci/release recipes` fills in the names between at signs.
class Evenkeel < Formula
  desc "Packet simulator of load balancing in AI-training networks"
  homepage "@repository@"
  url "@repository@/releases/download/v@version@/evenkeel-@version@.tar.gz"
  sha256 "@sha256@"
  license "MIT"

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--features", "parquet", *std_cargo_args
    generate_completions_from_executable(bin/"evenkeel", "completions")
    system bin/"evenkeel", "man", man1
  end

  test do
    system bin/"evenkeel", "demo"
    assert_path_exists testpath/"evenkeel-demo/demo.svg"
  end
end
