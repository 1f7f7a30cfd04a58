import assert from "node:assert/strict";
import { test } from "node:test";
import { parseProgress } from "../src/progress";

test("a line of progress has percent and size", () => {
  const line = '{"id": "m", "done": 50000000, "total": 200000000, "state": "fetching"}';
  assert.deepEqual(parseProgress(line), { percent: 25, message: "25 % of 200 MB" });
});

test("an unknown total is no percent", () => {
  const line = '{"id": "m", "done": 50000000, "total": 0, "state": "fetching"}';
  assert.deepEqual(parseProgress(line), { percent: 0, message: "50 MB" });
});

test("anything else is no progress", () => {
  for (const line of ["", "Fetching", "null", "{}", "[1]", '{"id": "m", "note": "text"}']) {
    assert.equal(parseProgress(line), undefined);
  }
});

test("a check says so, and a failure why", () => {
  const checking = '{"id": "m", "done": 1000000, "total": 2000000, "state": "checking"}';
  assert.deepEqual(parseProgress(checking), { percent: 50, message: "checking, 50 % of 2 MB" });
  const failed = '{"id": "m", "done": 0, "total": 0, "state": "failed", "message": "disk full"}';
  assert.equal(parseProgress(failed)?.failure, "disk full");
});
