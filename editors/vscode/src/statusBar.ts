// The item in the status bar.

import * as vscode from "vscode";
import { summary, type Situation, type Summary } from "./summary";

const BACKGROUNDS = {
  normal: undefined,
  warning: new vscode.ThemeColor("statusBarItem.warningBackground"),
  error: new vscode.ThemeColor("statusBarItem.errorBackground"),
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "specls.status",
    vscode.StatusBarAlignment.Right,
    100,
  );

  constructor() {
    this.item.name = "specls";
    this.item.command = "specls.menu";
    this.item.show();
  }

  show(situation: Situation): void {
    const said = summary(situation);
    this.item.text = `$(${said.icon}) specls${said.text === "" ? "" : `: ${said.text}`}`;
    this.item.tooltip = tooltip(said);
    this.item.backgroundColor = BACKGROUNDS[said.severity];
    this.item.color = said.isQuiet ? new vscode.ThemeColor("disabledForeground") : undefined;
    this.item.accessibilityInformation = { label: `specls ${said.text}, ${said.lines.join(", ")}` };
  }

  dispose(): void {
    this.item.dispose();
  }
}

function tooltip(said: Summary): vscode.MarkdownString {
  const text = new vscode.MarkdownString("**specls**\n\n");
  for (const line of said.lines) {
    if (typeof line !== "string") text.appendMarkdown(`${line[0]}: `);
    text.appendText(typeof line === "string" ? line : line[1]).appendMarkdown("\n\n");
  }
  return text;
}
