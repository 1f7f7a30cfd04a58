// What the virtual documents say. Pure: Markdown from the server's answers.

import type { Fate, ModelContext, Part, Stats } from "./protocol";
import { accepted, round } from "./summary";

export function statisticsPage(stats: Stats): string {
  return [
    "# specls: statistics",
    "Since the server was started. Nothing of this leaves your machine.",
    section("Models", table(["", ""], modelRows(stats))),
    section("Suggestions", suggestions(stats)),
    section("Answers", answers(stats)),
    section("The last completion", lastCompletion(stats)),
    section("Nothing is completed in", exclusions(stats)),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

function modelRows({ models }: Stats): string[][] {
  const plain = Object.entries(models).filter(([, value]) => PLAIN.has(typeof value));
  return plain.map(([name, value]) => [name, String(value)]);
}

function section(title: string, body: string): string {
  return body === "" ? "" : `## ${title}\n\n${body}`;
}

function suggestions(stats: Stats): string {
  const counted = stats.suggestions;
  if (counted === undefined) return "";
  const rows = Object.entries(counted.byLanguage).map(([name, fate]) => fateRow(name, fate));
  const head = ["", "shown", "accepted", "in part", "rejected", "ignored", "characters kept"];
  return table(head, [...rows, fateRow("**all**", counted.total)]);
}

function fateRow(name: string, fate: Partial<Fate>): string[] {
  const share = accepted(fate);
  const numbers = [fate.shown, fate.partlyAccepted, fate.rejected, fate.ignored];
  const [shown, part, rejected, ignored] = numbers.map((each) => (each ?? 0).toString());
  const settled = (fate.characters ?? 0) - (fate.charactersPending ?? 0);
  const kept = `${fate.charactersKept ?? 0} of ${settled}`;
  return [name, shown ?? "0", share ?? "0", part ?? "0", rejected ?? "0", ignored ?? "0", kept];
}

function answers(stats: Stats): string {
  const { latency, requests } = stats;
  const rows = [
    ["requests", (requests.received ?? 0).toString()],
    ["answered without the model", (requests.withoutModel ?? 0).toString()],
    ["half of them within", milliseconds(latency?.p50Ms)],
    ["95 of 100 within", milliseconds(latency?.p95Ms)],
    ["99 of 100 within", milliseconds(latency?.p99Ms)],
  ];
  return table(
    ["", ""],
    rows.filter(([, value]) => value !== ""),
  );
}

function lastCompletion(stats: Stats): string {
  const last = stats.lastCompletion;
  if (last === null) return "";
  return table(
    ["", ""],
    [
      ["came from", last.origin],
      ["took", milliseconds(last.totalMs)],
      ["first token after", milliseconds(last.timeToFirstTokenMs)],
      ["tokens written", last.generatedTokens.toString()],
      ["tokens per second", round(last.decodeTokensPerSecond)],
      ["tokens given to the model", last.promptTokens.toString()],
      ["of these, read before", last.reusedTokens.toString()],
    ],
  );
}

function exclusions(stats: Stats): string {
  const rows = Object.entries(stats.excluded);
  return rows.length === 0 ? "" : table(["document", "why"], rows);
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "" : `${round(value)} ms`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function escaped(cell: string): string {
  return cell.replace(/[\\|<]/g, "\\$&").replace(/\s+/g, " ");
}

/** All that the model is given at a place, part by part. */
export function contextPage(context: ModelContext, place: string): string {
  const title = `# What the model is given at ${place}`;
  if (context.excluded !== null) return `${title}\n\nNothing: ${context.excluded}.\n`;
  if (context.parts.length === 0) return `${title}\n\nNothing yet: no model is loaded.\n`;
  const head = `${title}\n\n${context.tokens} tokens, in this order.`;
  return `${[head, ...context.parts.map(partSection)].join("\n\n")}\n`;
}

const NAMES: Record<Part["kind"], string> = {
  marker: "Marker",
  head: "Name",
  file: "Another file",
  prefix: "Before the cursor",
  suffix: "Behind the cursor",
  typed: "Just before the cursor",
};

function partSection(part: Part): string {
  if (part.kind === "marker") return `**Marker** \`${part.text}\``;
  const of = part.path === undefined ? "" : `: ${part.path}`;
  const fence = fenceFor(part.text);
  return `**${NAMES[part.kind]}${of}** (${part.tokens} tokens)\n\n${fence}\n${part.text}\n${fence}`;
}

function fenceFor(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), (match) => match[0].length));
  return "`".repeat(Math.max(longest + 1, 3));
}
