"""The page in Chromium: its runs are those of the program, and it needs neither network nor mouse.

EVENKEEL_PAGE is the built page, EVENKEEL the program. With EVENKEEL_PICTURES, a folder, the tests
leave pictures of the page there.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from playwright.sync_api import expect, sync_playwright

PAGE = pathlib.Path(os.environ["EVENKEEL_PAGE"]).resolve()
PROGRAM = pathlib.Path(os.environ["EVENKEEL"]).resolve()
PICTURES = os.environ.get("EVENKEEL_PICTURES")
EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
LONG = 120_000

SMALL = """[topology]
leaves = 2
spines = 2
hosts_per_leaf = 2

[workload]
kind = "permutation"
bytes = "64KB"
"""


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=program, args=["--no-sandbox"])


@pytest.fixture
def open_page(browser):
    """Opens the page at an address; at the end there were no errors and no requests."""
    found, contexts = [], []

    def opened(address="", width=1280, dark=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LONG)
        page.on("console", lambda it: found.append(it.text) if it.type != "log" else None)
        page.on("pageerror", lambda it: found.append(str(it)))
        page.on("request", lambda it: found.append(it.url) if it.url.startswith("http") else None)
        page.goto(PAGE.as_uri() + address)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert found == []


def write(page, text, policies=()):
    """Pastes a scenario and chooses policies."""
    page.select_option("#example", "own")
    page.fill("#text", text)
    for policy in policies:
        page.select_option("#policy", policy)
        page.click("#add")


def picture(page, name):
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def expect_status(page, text):
    expect(page.locator("#status")).to_contain_text(text, timeout=LONG)


def report(page):
    return page.frame_locator("#frame")


def without_costs(text):
    result = json.loads(text)
    return json.dumps({key: result[key] for key in result if key not in ("wall_s", "peak_rss_bytes")})


@pytest.mark.parametrize(
    "name",
    ["failures-instant", "flowlets", "fluid", "host-rotation", "idle-path", "lossless-incast", "mp-rdma",
     "multi-plane", "recording", "two-jobs"],
)
def test_a_run_is_that_of_the_program_to_the_byte(open_page, name):
    scenario = EXAMPLES / f"{name}.toml"
    command = [PROGRAM, "run", scenario, "--json"]
    expected = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    page = open_page()
    request = {"name": name, "text": scenario.read_text(), "settings": [], "policies": [], "seeds": None}
    found = page.evaluate("(request) => evenkeel('run_json', request)", json.dumps(request))
    assert without_costs(found) == without_costs(expected)


def test_a_run_takes_at_most_twice_the_time_of_the_program(open_page):
    scenario = EXAMPLES / "all-to-all-256.toml"
    page = open_page()
    request = json.dumps({"name": "a", "text": scenario.read_text(), "settings": [], "policies": [], "seeds": None})
    command = [PROGRAM, "run", scenario, "--threads", "1", "--json"]
    in_page, in_program = [], []
    for _ in range(3):
        found = page.evaluate("(request) => evenkeel('run_json', request)", request)
        in_page.append(json.loads(found)["wall_s"])
        in_program.append(json.loads(subprocess.check_output(command))["wall_s"])
    ratio = min(in_page) / min(in_program)
    print(f"{min(in_page):.2f} s in the page, {min(in_program):.2f} s in the program: {ratio:.2f}x")
    assert ratio <= 2


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (400, False), (400, True)])
def test_policies_are_compared_under_a_failed_link(open_page, width, dark):
    page = open_page(width=width, dark=dark)
    picture(page, f"start-{width}{'-dark' * dark}")
    assert page.locator("#text").is_visible() == (width == 1280), "folded where room is scarce"
    if width < 1280:
        page.click("#file summary")
    page.fill("#settings", "workload.bytes=500KB")
    page.fill("#seeds", "5")
    if width < 1280:
        page.click("#file summary")
    page.click("#run")
    expect_status(page, "Done in")
    inside = report(page)
    assert "reps" in inside.locator("p.answer").text_content()
    expect(inside.locator("#by-policy svg")).to_have_count(1)
    assert inside.locator("#results tbody tr").count() == 3
    # Both directions under each policy.
    assert inside.locator("g.link.failed").count() == 6
    assert "leaf0-spine0" in inside.locator(".failures").first.text_content()
    inside.locator("nav a[href='#results']").click()
    assert page.evaluate("scrollY") > 500 and len(page.frames) == 2
    assert "--policies ecmp,spray,reps --seeds 5" in page.text_content("#commands")
    page.wait_for_timeout(500)
    picture(page, f"report-{width}{'-dark' * dark}")
    for frame in page.frames:
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert frame.evaluate(wide) <= 0


def test_the_page_is_the_report_of_the_program(open_page, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    page = open_page()
    write(page, SMALL, ["ecmp", "spray"])
    page.fill("#name", "small")
    page.fill("#seeds", "5")
    page.click("#run")
    expect_status(page, "Done in")
    for command in page.text_content("#commands").splitlines():
        words = command.split()
        subprocess.run([PROGRAM, *words[1:]], cwd=tmp_path, check=True, capture_output=True)
    program = (tmp_path / "small.html").read_text()
    answer = report(page).locator("p.answer").inner_html()
    table = report(page).locator("#results table").first.inner_html()
    plain = page.evaluate(
        """(text) => {
          const page = new DOMParser().parseFromString(text, "text/html");
          return [page.querySelector("p.answer").innerHTML, page.querySelector("#results table").innerHTML];
        }""",
        program,
    )
    assert [answer, table] == plain


def test_a_link_is_failed_from_the_drawing_by_keyboard(open_page):
    page = open_page()
    write(page, SMALL)
    page.click("#run")
    expect_status(page, "Done in")
    assert report(page).locator("g.link.failed").count() == 0
    report(page).locator("g.link[data-from=leaf1][data-to=spine0]").focus()
    page.keyboard.press("Enter")
    assert page.input_value("#link") == "leaf1-spine0"
    page.keyboard.press("Enter")
    assert 'link = "leaf1-spine0"\nat = "20us"\nuntil = "never"' in page.input_value("#text")
    page.focus("#run")
    page.keyboard.press("Enter")
    expect(report(page).locator("g.link.failed")).to_have_count(2)


def test_an_address_repeats_the_run(open_page):
    page = open_page()
    write(page, SMALL + "# ä\n", ["spray", "line-cut"])
    page.fill("#settings", "topology.spines=4 seed=7")
    page.fill("#seeds", "2")
    page.click("#share")
    page.wait_for_url("**#*")
    address = page.evaluate("location.hash")
    other = open_page(address)
    expect_status(other, "Done in")
    fields = ["#text", "#name", "#settings", "#seeds"]
    assert [other.input_value(it) for it in fields] == [page.input_value(it) for it in fields]
    assert report(other).locator("#results tbody tr").count() == 2
    assert other.evaluate("location.hash") == address
    example = open_page("#example=idle-path")
    expect_status(example, "Done in")


def gallery():
    """Addresses in the gallery, each with the figure that its report has."""
    text = (EXAMPLES.parent / "docs/plotting.md").read_text()
    found = re.findall(r'play\.html#([^"]+)".*?--figure (\S+)', text, re.DOTALL)
    return [(html.unescape(address), figure) for address, figure in found]


@pytest.mark.parametrize("address, figure", gallery())
def test_a_figure_of_the_gallery_opens(open_page, address, figure):
    page = open_page(f"#{address}")
    expect_status(page, "Done in")
    expect(report(page).locator(f"figure[id^={figure}]")).not_to_have_count(0)


def test_a_run_is_stopped_and_another_one_starts(open_page):
    page = open_page()
    page.fill("#settings", "workload.bytes=500MB")
    page.click("#run")
    expect_status(page, "%")
    page.click("#stop")
    expect_status(page, "Stopped.")
    write(page, SMALL)
    page.fill("#settings", "")
    page.click("#run")
    expect_status(page, "Done in")


@pytest.mark.parametrize(
    "text, reason",
    [
        ("[topology]\nleafs = 2", "scenario.toml:2:1"),
        ("[topology]\nkind = 'file'\npath = 'a.txt'\nformat = 'hpcc'\n[workload]\nkind = 'permutation'",
         "a page has no files"),
        ("[[rail]]\nkind = 'rdma'", "[[rail]] does not run in the page"),
        ("[[run]]\nname = 'a'", "a study with [[run]] does not run in the page"),
        ("[topology]\nleaves = 512\nspines = 64\nhosts_per_leaf = 16\n[workload]\nkind = 'all-to-all'",
         "of memory"),
    ],
)
def test_what_cannot_run_is_refused_with_a_reason(open_page, text, reason):
    page = open_page()
    write(page, text)
    page.click("#run")
    expect_status(page, reason)
    assert page.locator("#status.bad").count() == 1
    write(page, SMALL)
    page.click("#run")
    expect_status(page, "Done in")
