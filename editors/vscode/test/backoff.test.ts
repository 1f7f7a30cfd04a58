import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/backoff";

test("waits twice as long each time, and gives up at the third crash in three minutes", () => {
  const backoff = new Backoff();
  assert.deepEqual(
    [0, 5000, 10_000].map((now) => backoff.crashed(now)),
    [1000, 2000, undefined],
  );
});

test("crashes long ago don't count", () => {
  const backoff = new Backoff();
  const times = [0, 170_000, 340_000, 510_000];
  assert.deepEqual(
    times.map((now) => backoff.crashed(now)),
    [1000, 2000, 2000, 2000],
  );
});

test("what was before a person's start doesn't count", () => {
  const backoff = new Backoff();
  backoff.crashed(0);
  backoff.crashed(1);
  backoff.forget();
  assert.equal(backoff.crashed(2), 1000);
});
