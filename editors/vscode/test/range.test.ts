import assert from "node:assert/strict";
import { test } from "node:test";
import { surplus } from "../src/range";

test("nothing is left out where there's no character of two units", () => {
  assert.equal(surplus("    return ", "    return a + b"), 0);
});

test("all up to the last one is left out", () => {
  assert.equal(surplus('x = "😀👧"; ', 'x = "😀👧"; y = 1'), 'x = "😀👧'.length);
});

test("nothing is left out that the suggestion doesn't repeat", () => {
  assert.equal(surplus("😀 ", "👧 b"), 0);
});
