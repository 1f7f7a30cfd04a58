// The menu behind the item in the status bar.

import * as vscode from "vscode";
import { isEnabled, isEnabledIn } from "./config";
import { SNOOZE_MINUTES } from "./snooze";
import { named, type Situation } from "./summary";

interface Entry extends vscode.QuickPickItem {
  command?: string;
}

export async function showMenu(situation: Situation): Promise<void> {
  const chosen = await vscode.window.showQuickPick(entries(situation), {
    title: "specls",
    placeHolder: "What would you like to do?",
  });
  if (chosen?.command !== undefined) await vscode.commands.executeCommand(chosen.command);
}

function entries(situation: Situation): Entry[] {
  const isMissing = situation.life === "missing" || situation.life === "failed";
  const runs = situation.life === "running";
  return [
    ...(isMissing ? missing() : []),
    ...(situation.life === "crashed"
      ? [entry("debug-restart", "Start the Server Again", "specls.restart")]
      : []),
    separator("Suggestions"),
    ...switches(situation),
    ...(runs ? [...models(situation), ...views()] : []),
    separator("specls"),
    entry("output", "Show Log", "specls.showLog"),
    entry("gear", "Settings", "specls.openSettings"),
    ...(runs ? [entry("debug-restart", "Restart the Server", "specls.restart")] : []),
  ];
}

function missing(): Entry[] {
  return [
    entry("cloud-download", "Set Up the Server", "specls.setUp"),
    entry("folder-opened", "Choose the Server's Path", "specls.choosePath"),
  ];
}

function switches(situation: Situation): Entry[] {
  if (!isEnabled()) return [onOff(false, "", "specls.toggle")];
  const language = vscode.window.activeTextEditor?.document.languageId;
  const snooze =
    situation.snoozedUntil === undefined
      ? entry("bell-slash", `Snooze for ${SNOOZE_MINUTES} Minutes`, "specls.snooze")
      : entry("bell", "End Snooze", "specls.snooze");
  return [
    onOff(true, "", "specls.toggle"),
    ...(language === undefined
      ? []
      : [onOff(isEnabledIn(language), ` for ${language}`, "specls.toggleLanguage")]),
    snooze,
  ];
}

function onOff(isOn: boolean, where: string, command: string): Entry {
  return entry(isOn ? "circle-slash" : "sparkle", `Turn ${isOn ? "Off" : "On"}${where}`, command);
}

function models({ status, stats }: Situation): Entry[] {
  const model = status?.model ?? named(stats, "target");
  const draft = status?.draft ?? named(stats, "draft");
  return [
    separator("Models"),
    entry("chip", "Choose the Model", "specls.chooseModel", model),
    entry("zap", "Choose the Draft Model", "specls.chooseDraft", draft),
  ];
}

function views(): Entry[] {
  return [
    separator("Look"),
    entry("graph", "Statistics", "specls.showStatistics"),
    entry("eye", "What the Model Is Given Here", "specls.showContext"),
  ];
}

function separator(label: string): Entry {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function entry(icon: string, label: string, command: string, now?: string | null): Entry {
  return { label: `$(${icon}) ${label}`, command, ...(now ? { description: now } : {}) };
}
