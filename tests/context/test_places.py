"""What is completed where, in five languages: shapes, scopes, brackets, comments and strings."""

from __future__ import annotations

import pytest

from specls.context.place import Shape
from specls.context.syntax import Inside
from tests.context.test_stop import finished, place

PYTHON, TYPESCRIPT, GO, RUST, CPP = "python", "typescript", "go", "rust", "cpp"


@pytest.mark.parametrize(
    ("language", "marked", "inside", "shape"),
    [
        (PYTHON, "x = 1  # count the |", Inside.COMMENT, Shape.LINE),
        (PYTHON, "print('it is |", Inside.STRING, Shape.LINE),
        (PYTHON, 'def f():\n    """Return the |', Inside.TEXT, Shape.LINE),
        (PYTHON, 'def f():\n    """Return.\n\n    |\n', Inside.TEXT, Shape.BLOCK),
        (PYTHON, "s = '#'\nx = |", Inside.CODE, Shape.STATEMENT),
        (PYTHON, 's = """a"""\n|', Inside.CODE, Shape.BLOCK),
        (TYPESCRIPT, "// see |", Inside.COMMENT, Shape.LINE),
        (TYPESCRIPT, "/**\n * Adds |\n", Inside.TEXT, Shape.LINE),
        (TYPESCRIPT, 'const u = "http://|', Inside.STRING, Shape.LINE),
        (TYPESCRIPT, "const s = `one\n|", Inside.TEXT, Shape.BLOCK),
        (TYPESCRIPT, "const f = () => {|}", Inside.CODE, Shape.PAIR),
        (TYPESCRIPT, "const f = `${|}`", Inside.TEXT, Shape.LINE),
        (GO, "s := `raw |", Inside.TEXT, Shape.LINE),
        (GO, "// Add |", Inside.COMMENT, Shape.LINE),
        (GO, "if err != nil {|", Inside.CODE, Shape.STATEMENT),
        (RUST, "fn f<'a>(x: &'a str) -> |", Inside.CODE, Shape.STATEMENT),
        (RUST, "let c = '\"';\n    |", Inside.CODE, Shape.BLOCK),
        (RUST, 'let s = "a |', Inside.TEXT, Shape.LINE),
        (RUST, "/// Returns |", Inside.COMMENT, Shape.LINE),
        (CPP, '#include "a.h"\n/* all\n |', Inside.TEXT, Shape.BLOCK),
        (CPP, "char c = '\\'';\nint x = |", Inside.CODE, Shape.STATEMENT),
        (CPP, "int main() { return |; }", Inside.CODE, Shape.LINE),
        ("markdown", "it's a \"|", Inside.CODE, Shape.STATEMENT),
        ("nothing-known", "don't |", Inside.CODE, Shape.STATEMENT),
    ],
)
def test_code_is_told_from_text(language: str, marked: str, inside: Inside, shape: Shape) -> None:
    """Comments and strings are completed to the end of their line, code by what it is."""
    found = place(marked, language)
    assert (found.inside, found.shape) == (inside, shape)


@pytest.mark.parametrize(
    ("multiline", "marked", "shape"),
    [
        ("never", "def f():|", Shape.LINE),
        ("never", "    |", Shape.LINE),
        ("never", "f = {|}", Shape.LINE),
        ("always", "x = |", Shape.BLOCK),
        ("always", "# about |", Shape.BLOCK),
        ("always", "f(|) + 1", Shape.LINE),
    ],
)
def test_people_may_decide_about_lines(multiline: str, marked: str, shape: Shape) -> None:
    """One line at the most, or several wherever nothing stands behind the cursor."""
    assert place(marked, PYTHON, multiline).shape is shape


@pytest.mark.parametrize(
    ("language", "marked", "written", "shown"),
    [
        # The scope is left.
        (
            PYTHON,
            "class A:\n    def a(self):\n        |\n",
            "return 1\n\n    def b(self):\n        pass\n",
            "return 1",
        ),
        (
            PYTHON,
            "class A:\n    |\n",
            "def a(self):\n        x = 1\n\n        return x\n\n    def b(self):\n",
            "def a(self):\n        x = 1\n\n        return x",
        ),
        (PYTHON, "import a\n\n|\n", "def f():\n    pass\n\n\nx = 1\n", "def f():\n    pass"),
        (PYTHON, "|\n", "import os\nimport re\n\ndef f():\n", "import os\nimport re"),
        (
            TYPESCRIPT,
            "function f() {\n  |\n}\n",
            "const a = 1;\n\n  return a;\n}\n",
            "const a = 1;\n\n  return a;",
        ),
        (
            GO,
            "func f() error {\n\t|\n}\n",
            "if x {\n\t\treturn nil\n\t}\n\treturn err\n}\n",
            "if x {\n\t\treturn nil\n\t}\n\treturn err",
        ),
        (
            RUST,
            "impl A {\n    |\n}\n",
            "fn a() {\n        b();\n    }\n\n    fn c() {\n",
            "fn a() {\n        b();\n    }",
        ),
        (CPP, "void f() {\n    |\n}\n", "g();\n    h();\n}\n\nint x;\n", "g();\n    h();"),
        # A bracket is closed once: by the text, or by what stands below.
        (CPP, "if (a) {|\n}\n", "\n    b();\n}\n", "\n    b();"),
        (CPP, "{\n    if (a) {|\n}\n", "\n        b();\n    }\n", "\n        b();\n    }"),
        (TYPESCRIPT, "f(a, () => {|\n});\n", "\n  b();\n});\n", "\n  b();"),
        (GO, "x := []int{|\n}\n", "\n\t1,\n}\n", "\n\t1,"),
        (RUST, "match x {|\n}\n", "\n    _ => 1,\n}\n", "\n    _ => 1,"),
        (PYTHON, "x = f(|\n)\n", "\n    1,\n)\n", "\n    1,"),
        (PYTHON, "print(')', f(|\n", "1))\ny = 2\n", "1))"),
        (PYTHON, "f(g(|)\n", "x))", "x)"),
        # Between two braces.
        (TYPESCRIPT, "const f = () => {|}\n", "\n  return 1;\n}\n", "\n  return 1;\n"),
        (TYPESCRIPT, "  if (a) {|}\n", "\n    b();\n  }\n", "\n    b();\n  "),
        (CPP, "void f() {|}\n", " return; }\n", " return; "),
        (GO, "x := T{|}\n", "A: 1}\n", "A: 1"),
        (RUST, "fn f() {|}\n", "\n    1", ""),
        # Comments and strings of several lines end where they end.
        (
            PYTHON,
            'def f():\n    """Add.\n\n    |\n',
            'Both are numbers.\n    """\n    return 1\n',
            'Both are numbers.\n    """',
        ),
        (TYPESCRIPT, "/**\n * A\n|\n", " * B\n */\nfunction f() {}\n", " * B\n */"),
        (GO, "// Add adds|\n", " two numbers.\n// More.\n", " two numbers."),
        (RUST, "/// Adds|\n", " two.\nfn add() {}\n", " two."),
        (CPP, "// Adds |\n", "two.\nint add();\n", "two."),
        # The next line isn't written again, neither exactly nor nearly, whole or begun.
        (PYTHON, "def f():\n    |\n    b = 2\n", "a = 1\n    b  = 2\n", "a = 1"),
        (PYTHON, "def f():\n    |\n    b = 2\n", "a = 1\n    b =", "a = 1"),
        (PYTHON, "def f():\n    |\n    b = 2\n    c = 3\n", "b = 2\n    c = 3", ""),
        (TYPESCRIPT, "f({\n  |\n  b: 2,\n});\n", "a: 1,\n  b: 2\n});", "a: 1,"),
        (GO, "\t|\n\treturn nil\n", "x()\n\treturn nil\n", "x()"),
        (RUST, "    |\n    Ok(x)\n", "let x = 1;\n    Ok(x)", "let x = 1;"),
        (CPP, "    |\n    return x;\n", "int x = 1;\n    return x ;\n", "int x = 1;"),
        # A line of another depth is another line.
        (
            PYTHON,
            "def f():\n    if a:\n        |\n    return x\n",
            "return x\n",
            "return x",
        ),
        # What stands behind the cursor isn't written again, whatever follows it.
        (PYTHON, "if Not |qual or x:\n", "a or qual or x: pass", "a or "),
        (PYTHON, "if Not | qual or x:\n", "qual or x:", ""),
        # Nothing comes any more.
        (PYTHON, "x = 1\n|\n", "\n\n\n\n\n", ""),
        (PYTHON, "def f():\n    |\n", "a = 1\n\n\n\n\nb", "a = 1"),
    ],
)
def test_a_completion_fits_its_place(language: str, marked: str, written: str, shown: str) -> None:
    """What a person sees of what a model wrote, by language."""
    assert finished(marked, written, language) == shown


def test_the_number_of_lines_has_a_limit() -> None:
    """Of thirty lines that all belong there, 24 are shown."""
    window = "def f():\n    |\n"
    text = "".join(f"    a{number} = {number}\n" for number in range(30))
    assert finished(window, text.removeprefix("    "), PYTHON).count("\n") == 23
