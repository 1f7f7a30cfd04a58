import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stats } from "../src/protocol";
import { accepted, inWords, summary } from "../src/summary";

const STATS: Stats = {
  state: "ready",
  models: { target: "qwen", fillInTheMiddle: true },
  requests: {},
  decodedTokens: 5,
  excluded: {},
  suggestions: { total: { shown: 8, accepted: 2 }, byLanguage: {} },
  latency: { p50Ms: 160.7 },
  lastCompletion: {
    origin: "decode",
    promptTokens: 10,
    reusedTokens: 8,
    generatedTokens: 5,
    timeToFirstTokenMs: 30,
    decodeTokensPerSecond: 9.87,
    totalMs: 100,
  },
};

test("a ready server shows model, draft, speed, latency and acceptance", () => {
  const status = { state: "ready", message: "", model: "qwen", draft: "tiny" } as const;
  const said = summary({ life: "running", enabled: true, status, stats: STATS });
  assert.deepEqual(said.lines, [
    ["Model", "qwen"],
    ["Draft", "tiny"],
    ["Speed", "9.9 tokens/s"],
    ["Answers", "in 161 ms (half of them)"],
    ["Accepted", "2 of 8 (25 %)"],
  ]);
  assert.deepEqual([said.icon, said.severity, said.isQuiet], ["sparkle", "normal", false]);
});

test("loading shows how far it is", () => {
  const status = { state: "loading", message: "loading", progress: 40 } as const;
  assert.equal(summary({ life: "running", enabled: true, status }).text, "40 %");
});

test("where nothing is completed it says why, once, and what to do", () => {
  const reason = "it may hold secrets";
  const status = { state: "disabled", message: reason, reason, remedy: "allow it" } as const;
  const said = summary({ life: "running", enabled: true, status });
  assert.deepEqual(said.lines, [reason, "allow it"]);
  assert.equal(said.isQuiet, true);
});

test("a snooze says until when", () => {
  const status = { state: "ready", message: "" } as const;
  const said = summary({ life: "running", enabled: true, status, snoozedUntil: "12:05" });
  assert.deepEqual(said.lines, ["Suggestions are off until 12:05."]);
  assert.equal(said.icon, "bell-slash");
});

test("turned off counts before everything else", () => {
  const said = summary({ life: "crashed", enabled: false });
  assert.deepEqual(said.lines, ["Suggestions are turned off."]);
});

test("a server that isn't there is a warning with words, one that gave up is an error", () => {
  assert.equal(summary({ life: "missing", enabled: true }).text, "not set up");
  assert.equal(summary({ life: "missing", enabled: true }).severity, "warning");
  assert.equal(summary({ life: "crashed", enabled: true }).severity, "error");
});

test("no share of acceptance before anything was shown", () => {
  assert.equal(accepted({ shown: 0, accepted: 0 }), undefined);
  assert.equal(accepted(undefined), undefined);
});

test("sizes are in words", () => {
  assert.deepEqual([1_117_320_768, 98_362_432, null].map(inWords), [
    "1.1 GB",
    "98 MB",
    "size unknown",
  ]);
});
