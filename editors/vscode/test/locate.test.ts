import assert from "node:assert/strict";
import { test } from "node:test";
import { locate, type Places } from "../src/locate";

const PLACES: Places = {
  configured: "",
  environments: ["/project/.venv"],
  searchPath: ["/usr/bin", "/opt/bin"],
  own: "/storage/environment",
  home: "/home/ada",
  windows: false,
};

function among(...files: string[]) {
  return (file: string) => files.includes(file);
}

test("the setting counts before all else, and ~ is the home folder", () => {
  const places = { ...PLACES, configured: " ~/bin/specls " };
  const found = locate(places, among("/home/ada/bin/specls", "/usr/bin/specls"));
  assert.deepEqual(found, {
    kind: "found",
    path: "/home/ada/bin/specls",
    origin: "the setting specls.server.path",
  });
});

test("a setting that names nothing is wrong, even if there's a server elsewhere", () => {
  const places = { ...PLACES, configured: "/gone/specls" };
  assert.deepEqual(locate(places, among("/usr/bin/specls")), {
    kind: "wrong",
    path: "/gone/specls",
  });
});

test("environments come before PATH, PATH before ~/.local/bin, and our own environment last", () => {
  const files = [
    "/project/.venv/bin/specls",
    "/opt/bin/specls",
    "/home/ada/.local/bin/specls",
    "/storage/environment/bin/specls",
  ];
  for (let first = 0; first < files.length; first++) {
    const found = locate(PLACES, among(...files.slice(first)));
    assert.equal(found.kind === "found" && found.path, files[first]);
  }
});

test("nowhere is nowhere", () => {
  assert.deepEqual(
    locate(PLACES, () => false),
    { kind: "none" },
  );
});
