// Ghost text: asks the server, and tells it what became of the suggestions.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { InlineCompletionRequest, type InlineCompletionItem } from "vscode-languageclient/node";
import { DID_ACCEPT_PART, DID_REJECT, DID_SHOW } from "./protocol";

const REJECTED = 1;

interface PartialAccept {
  acceptedLength: number;
}

/**
 * What VS Code's proposed `inlineCompletionsAdditions` calls. Where the proposal isn't enabled,
 * nobody calls it, and only the accept command tells the server anything.
 */
interface Reports {
  handleDidShowCompletionItem(item: vscode.InlineCompletionItem): void;
  handleDidPartiallyAcceptCompletionItem(
    item: vscode.InlineCompletionItem,
    info: PartialAccept | number,
  ): void;
  handleEndOfLifetime(item: vscode.InlineCompletionItem, reason: { kind: number }): void;
}

export class InlineProvider implements vscode.InlineCompletionItemProvider, Reports {
  /** The items as the server sent them, and how much at their beginnings isn't shown. */
  private readonly sent = new WeakMap<vscode.InlineCompletionItem, InlineCompletionItem>();

  constructor(
    private readonly client: LanguageClient,
    private readonly isSnoozed: () => boolean,
    private readonly answered: () => void,
  ) {}

  /** Never throws, since VS Code would say so at each key. */
  async provideInlineCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
  ): Promise<vscode.InlineCompletionItem[]> {
    const asked = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
    if ((this.isSnoozed() && !asked) || !this.client.isRunning()) return [];
    const convert = this.client.code2ProtocolConverter;
    const params = convert.asInlineCompletionParams(document, position, context);
    try {
      const answer = await this.client.sendRequest(InlineCompletionRequest.type, params, token);
      return token.isCancellationRequested ? [] : await this.shown(answer);
    } catch (error) {
      if (!token.isCancellationRequested && this.client.isRunning()) {
        this.client.outputChannel.warn(`A request failed: ${String(error)}`);
      }
      return [];
    }
  }

  private async shown(
    answer: { items: InlineCompletionItem[] } | InlineCompletionItem[] | null,
  ): Promise<vscode.InlineCompletionItem[]> {
    const items = answer === null ? [] : Array.isArray(answer) ? answer : answer.items;
    const convert = this.client.protocol2CodeConverter;
    const converted = await convert.asInlineCompletionResult(items);
    converted.forEach((item, index) => {
      const original = items[index];
      if (original) this.sent.set(item, original);
    });
    this.answered();
    return converted;
  }

  handleDidShowCompletionItem(item: vscode.InlineCompletionItem): void {
    this.tell(DID_SHOW, item, {});
  }

  handleDidPartiallyAcceptCompletionItem(
    item: vscode.InlineCompletionItem,
    info: PartialAccept | number,
  ): void {
    // Each time VS Code calls twice, for extensions of older and of newer days.
    if (typeof info === "number") return;
    this.tell(DID_ACCEPT_PART, item, { acceptedLength: info.acceptedLength });
  }

  /** Accepted ones are told of by their command. */
  handleEndOfLifetime(item: vscode.InlineCompletionItem, reason: { kind: number }): void {
    if (reason.kind >= REJECTED) this.tell(DID_REJECT, item, { ignored: reason.kind > REJECTED });
  }

  private tell(method: string, item: vscode.InlineCompletionItem, more: object): void {
    const sent = this.sent.get(item);
    if (sent === undefined || !this.client.isRunning()) return;
    const params = { item: sent, ...more };
    void this.client.sendNotification(method, params).catch(() => undefined);
    this.answered();
  }
}
