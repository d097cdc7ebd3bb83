//! Values that replace the body of a function, by its return type.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypePath};

/// Values that a function with this return type returns at once, as source text.
pub(crate) fn of_return(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec!["()".to_owned()],
        ReturnType::Type(_, of) => of_type(of),
    }
}

/// Values of a type; what lacks a `Default` is found out by the compiler.
fn of_type(of: &Type) -> Vec<String> {
    let one = |text: &str| vec![text.to_owned()];
    match of {
        Type::Path(path) => of_path(path),
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Tuple(tuple) if tuple.elems.is_empty() => one("()"),
        Type::Tuple(tuple) => {
            let mut all = vec![String::new()];
            for element in &tuple.elems {
                let values = of_type(element);
                all = all
                    .iter()
                    .flat_map(|begun| values.iter().map(move |value| format!("{begun}{value}, ")))
                    .collect();
            }
            all.into_iter().map(|elements| format!("({elements})")).collect()
        }
        Type::Array(array) => {
            let length = array.len.to_token_stream();
            of_type(&array.elem).iter().map(|value| format!("[{value}; {length}]")).collect()
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => {
                vec!["\"\"".to_owned(), "\"xyzzy\"".to_owned()]
            }
            Type::Slice(slice) => {
                let mut all = one("Vec::leak(Vec::new())");
                let values = of_type(&slice.elem);
                all.extend(values.iter().map(|value| format!("Vec::leak(vec![{value}])")));
                all
            }
            inner => {
                of_type(inner).iter().map(|value| format!("Box::leak(Box::new({value}))")).collect()
            }
        },
        // A value of another type cannot be returned early.
        Type::Never(_) | Type::ImplTrait(_) => vec![],
        _ => one("Default::default()"),
    }
}

fn of_path(path: &TypePath) -> Vec<String> {
    let Some(last) = path.path.segments.last() else { return vec![] };
    let argument = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => Some(inner),
                _ => None,
            })
        }
        _ => None,
    };
    let inner = || argument.map_or_else(|| vec!["Default::default()".to_owned()], of_type);
    let within = |before: &str, after: &str| -> Vec<String> {
        inner().iter().map(|value| format!("{before}{value}{after}")).collect()
    };
    let all = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    match last.ident.to_string().as_str() {
        "bool" => all(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => all(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => all(&["0", "1", "-1"]),
        "f32" | "f64" => all(&["0.0", "1.0", "-1.0"]),
        "String" => all(&["String::new()", "\"xyzzy\".into()"]),
        "Option" => {
            let mut values = all(&["None"]);
            values.extend(within("Some(", ")"));
            values
        }
        "Result" => within("Ok(", ")"),
        "Vec" => {
            let mut values = all(&["vec![]"]);
            values.extend(within("vec![", "]"));
            values
        }
        name @ ("Box" | "Rc" | "Arc" | "Cell" | "RefCell") => within(&format!("{name}::new("), ")"),
        _ => all(&["Default::default()"]),
    }
}
