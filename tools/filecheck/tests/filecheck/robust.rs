//! Odd, hostile and large inputs, and what the messages look like.

use crate::support::run_ours;
use proptest::prelude::*;
use sutura_filecheck::{Checks, Config, DumpFilter, DumpOptions, filecheck};

fn args(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn errors(checks: &str, input: &[u8]) -> String {
    let checks = match Checks::parse(checks, "c.txt", &Config::default()) {
        Ok(checks) => checks,
        Err(errors) => return errors.iter().map(ToString::to_string).collect(),
    };
    match checks.run(input) {
        Ok(_) => String::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn message_for_missing_text() {
    let text = errors("// CHECK: alpha [[X:[a-z]+]]\n// CHECK: [[X]] soup\n", b"start\nalpha bet\nbet soop\n");
    assert_eq!(
        text,
        "\
c.txt:2:11: error: CHECK: expected string not found in input
// CHECK: [[X]] soup
          ^
<stdin>:2:10: note: scanning from here
alpha bet
         ^
<stdin>:2:10: note: with \"X\" equal to \"bet\"
alpha bet
         ^
<stdin>:3:1: note: possible intended match here
bet soop
^
"
    );
}

#[test]
fn dump_marks_matches_and_errors() {
    let checks = "// CHECK: one [[X:[a-z]+]]\n// CHECK-NEXT: two\n// CHECK-NOT: four\n";
    let config = Config { verbosity: sutura_filecheck::Verbosity::Matches, ..Config::default() };
    let checks = Checks::parse(checks, "c.txt", &config).expect("checks");
    let input = "one uno\ntwo\n1\n2\n3\n4\n5\n6\n7\n8\nsee four here\n";
    let report = checks.report(input, "in.txt");
    assert!(!report.passed());
    let full = report.dump(&DumpOptions { filter: DumpFilter::All, context: 0 });
    // Each line of the input ends with a blank for its newline.
    let expected = "\
<<<<<<
           1: one uno~
check:1'0     ^~~~~~~
check:1'1         ^~~ captured var \"X\"
           2: two~
next:2        ^~~
           3: 1~
           4: 2~
           5: 3~
           6: 4~
           7: 5~
           8: 6~
           9: 7~
          10: 8~
          11: see four here~
not:3             !~~~ error: no match expected
>>>>>>
";
    let expected: Vec<String> = expected
        .lines()
        .map(|line| match line.contains(": ") && !line.contains('\'') && !line.contains("not:") {
            true => line.replace('~', " "),
            false => line.to_owned(),
        })
        .collect();
    assert_eq!(full.lines().collect::<Vec<_>>(), expected);
    let short = report.dump(&DumpOptions::default());
    assert!(short.contains("           .\n"), "{short}");
    assert!(!short.contains("   1: one uno"), "{short}");
}

#[test]
fn several_errors_in_one_check_file() {
    let text = errors("CHECK: {{(}}\nCHECK: [[X\nCHECK-NXT: a\nCHECK:\n", b"a");
    assert_eq!(text.matches(" error: ").count(), 4, "{text}");
}

#[test]
fn binary_input() {
    let input: Vec<u8> = (0..=255u8).cycle().take(4096).collect();
    assert_eq!(errors("CHECK: ABC\nCHECK: {{[^a]}}xyz\n", &input), "");
    let text = errors("CHECK: nothing of that\n", &input);
    assert!(text.contains("expected string not found"), "{text}");
}

#[test]
fn binary_check_file() {
    let mut checks: Vec<u8> = (0..=255u8).collect();
    checks.extend(b"\nCHECK: \xff{{\xfe+}}\n");
    let (status, _) = run_ours(&checks, b"\xff\xfe\xfe", &[]);
    assert_eq!(status, 0);
}

#[test]
fn ten_megabytes() {
    let mut input = "%1 = operation with text\n".repeat(420_000);
    input.push_str("%2 = last\n");
    assert!(input.len() > 10_000_000);
    let checks = "CHECK: %[[X:[a-z0-9]+]] = last\nCHECK-NOT: {{[a-z]+foo}}\n";
    assert_eq!(errors(checks, input.as_bytes()), "");
    let text = errors("CHECK: %[[X:[a-z0-9]+]] = absent\n", input.as_bytes());
    assert!(text.contains("expected string not found"), "{text}");
}

#[test]
fn a_long_line_with_nested_repetition() {
    let input = "a".repeat(100_000);
    let text = errors("CHECK: {{(a*)*(a|aa)*}}b\n", input.as_bytes());
    assert!(text.contains("expected string not found"), "{text}");
    let input = input + "b";
    assert_eq!(errors("CHECK: [[X:(a|aa)*]]{{(a*)*}}b\n", input.as_bytes()), "");
}

#[test]
fn costly_back_reference_is_an_error() {
    let input = "a".repeat(6_000) + "b!";
    let text = errors("CHECK: {{^(a*)(a*)([ab])\\3!}}\n", input.as_bytes());
    assert!(text.contains("steps"), "{text}");
}

#[test]
fn long_lines_are_cut_in_messages() {
    let input = "a".repeat(1_000_000) + "b" + &"c".repeat(1_000_000) + "\n";
    let checks = Checks::parse("CHECK: b\nCHECK-SAME: d\n", "c.txt", &Config::default());
    let checks = checks.expect("checks");
    let report = checks.report(&input, "<stdin>");
    let text: String = report.diagnostics().iter().map(ToString::to_string).collect();
    assert!(text.len() < 2_000, "{} bytes", text.len());
    assert!(text.contains("<stdin>:1:1000002: note: scanning from here"), "{text}");
    assert!(text.contains("abccc"), "{text}");
    let dump = report.dump(&DumpOptions::default());
    assert!(dump.len() < 4_000, "{} bytes", dump.len());
}

#[test]
fn too_large_a_regex_is_an_error() {
    let text = errors("CHECK: {{(((a{200,250}){200}){200}) }}\n", b"a");
    assert!(text.contains("states"), "{text}");
    let deep = format!("CHECK: {{{{{}a{}}}}}\n", "(".repeat(5000), ")".repeat(5000));
    let text = errors(&deep, b"a");
    assert!(text.contains("nested parentheses"), "{text}");
}

#[test]
fn deep_expressions_are_errors() {
    let deep = format!("CHECK: [[#{}1{}]]\n", "(".repeat(5000), ")".repeat(5000));
    let text = errors(&deep, b"1");
    assert!(text.contains("nested expressions"), "{text}");
    let text = errors(&format!("CHECK: [[#1{}]]\n", "+1".repeat(5000)), b"1");
    assert!(text.contains("operators"), "{text}");
}

#[test]
fn missing_check_file() {
    let (status, stderr) = run_ours(b"", b"", &args("other.txt"));
    assert_eq!(status, 2);
    assert!(stderr.contains("more than one check file"), "{stderr}");
}

#[test]
fn invalid_options_in_the_environment() {
    let mut stderr = Vec::new();
    let status = sutura_filecheck::tool::run(sutura_filecheck::tool::Invocation {
        args: &[],
        environment_options: Some("-v 'open"),
        directory: std::path::Path::new("."),
        stdin: &mut std::io::empty(),
        stdout: &mut Vec::new(),
        stderr: &mut stderr,
    });
    assert_eq!(status, 2);
    assert!(String::from_utf8_lossy(&stderr).contains("unclosed '"));
}

#[test]
fn macro_returns_matches() {
    let matches =
        filecheck!("%0 = arith.addi\nreturn %0\n", "CHECK: %[[SUM:.*]] = arith.addi\nCHECK-NEXT: return %[[SUM]]");
    assert_eq!(matches.variables(), ["SUM"]);
    assert_eq!(matches.variable("SUM"), Some(&b"0"[..]));
    assert_eq!(matches.matched()[1].check_line, Some(2));
}

#[test]
#[should_panic(expected = "expected string not found")]
fn macro_panics() {
    filecheck!("a\n", "CHECK: b");
}

proptest! {
    /// Nothing that can be written in a check file panics.
    #[test]
    fn no_check_file_panics(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "CHECK", "-NEXT", "-NOT", "-DAG", "-LABEL", "-COUNT-", "2", "-EMPTY", ":", " ",
                "\n", "{{", "}}", "[[", "]]", "#", "X", "@LINE", "%x", ",", "+", "(", ")", "[",
                "]", "*", "|", "\\", "\\1", "{LITERAL}", "{2}", "é", "\r", "add", "==", "$", "^",
            ]),
            0..40,
        ),
        input in prop::collection::vec(
            prop::sample::select(vec!["X", "a", "2", " ", "\n", "12", "+", "é", "\r"]),
            0..30,
        ),
        no_lint in any::<bool>(),
        full in any::<bool>(),
    ) {
        let config = Config {
            no_lint,
            match_full_lines: full,
            verbosity: sutura_filecheck::Verbosity::Everything,
            ..Config::default()
        };
        if let Ok(checks) = Checks::parse(parts.concat(), "c.txt", &config) {
            let report = checks.report(input.concat(), "<stdin>");
            report.dump(&DumpOptions::default());
        }
    }

    /// A line checked against itself, as plain text, passes.
    #[test]
    fn text_matches_itself(line in "[ -~]{0,30}") {
        let pattern = line.trim();
        prop_assume!(!pattern.is_empty());
        let checks = format!("CHECK{{LITERAL}}: {pattern}\n");
        prop_assert_eq!(errors(&checks, line.as_bytes()), "");
    }
}
