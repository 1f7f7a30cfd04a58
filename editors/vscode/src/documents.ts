// Read-only documents: statistics, and what the model is given.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { contextPage, statisticsPage } from "./pages";
import { CONTEXT, STATS, type ModelContext, type Stats } from "./protocol";

const SCHEME = "specls";
const STATISTICS = vscode.Uri.from({ scheme: SCHEME, path: "/specls statistics.md" });
const MODEL_CONTEXT = vscode.Uri.from({ scheme: SCHEME, path: "/What the model is given.md" });

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(
    SCHEME,
    this,
  );
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  async showStatistics(client: LanguageClient): Promise<void> {
    const stats = await client.sendRequest<Stats>(STATS, {});
    this.put(STATISTICS, statisticsPage(stats));
    await vscode.commands.executeCommand("markdown.showPreview", STATISTICS);
  }

  async showContext(client: LanguageClient, editor: vscode.TextEditor): Promise<void> {
    const convert = client.code2ProtocolConverter;
    const position = editor.selection.active;
    const params = convert.asTextDocumentPositionParams(editor.document, position);
    const context = await client.sendRequest<ModelContext>(CONTEXT, params);
    const name = vscode.workspace.asRelativePath(editor.document.uri);
    const place = `${name}:${position.line + 1}:${position.character + 1}`;
    this.put(MODEL_CONTEXT, contextPage(context, place));
    await vscode.window.showTextDocument(MODEL_CONTEXT, {
      preview: true,
      viewColumn: vscode.ViewColumn.Beside,
    });
  }

  private put(uri: vscode.Uri, text: string): void {
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
