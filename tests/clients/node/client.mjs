// Talks to a server as VS Code's client library does, and prints what it saw as one JSON object.
// usage: node client.mjs COMMAND ARGUMENTS...
import { spawn } from 'node:child_process';
import protocol from 'vscode-languageserver-protocol/node';

const {
  CancellationTokenSource, ConfigurationRequest, createProtocolConnection,
  DidChangeConfigurationNotification, DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification, ExitNotification, InitializedNotification, InitializeRequest,
  InlineCompletionRequest, InlineCompletionTriggerKind, RegistrationRequest, ShutdownRequest,
  ShowMessageNotification, StreamMessageReader, StreamMessageWriter, UnregistrationRequest,
} = protocol;

const uri = 'file:///project/a.py';
const settings = JSON.parse(process.env.SPECLS_TEST_SETTINGS);
const [command, ...rest] = process.argv.slice(2);
const server = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => server.on('exit', resolve));
const connection = createProtocolConnection(
  new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const seen = { asked: [], registered: [], unregistered: [], messages: [] };

connection.onRequest(ConfigurationRequest.type, ({ items }) => {
  seen.asked.push(...items.map((item) => item.section));
  return items.map(() => settings);
});
connection.onRequest(RegistrationRequest.type, ({ registrations }) => {
  seen.registered.push(...registrations.map((each) => each.method));
});
connection.onRequest(UnregistrationRequest.type, ({ unregisterations }) => {
  seen.unregistered.push(...unregisterations.map((each) => each.method));
});
connection.onNotification(ShowMessageNotification.type, ({ message }) => seen.messages.push(message));
connection.listen();

const wish = (character) => ({
  textDocument: { uri },
  position: { line: 0, character },
  context: { triggerKind: InlineCompletionTriggerKind.Automatic },
});

async function untilReady() {
  while ((await connection.sendRequest('specls/stats', {})).state !== 'ready');
}

async function cancelled() {
  await connection.sendRequest('scripted/hold', { decode: true });
  const source = new CancellationTokenSource();
  const running = connection.sendRequest(InlineCompletionRequest.type, wish(8), source.token);
  source.cancel();
  const code = await running.then(() => null, (error) => error.code);
  await connection.sendRequest('scripted/hold', { decode: false });
  return code;
}

async function main() {
  const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    workspaceFolders: null,
    capabilities: {
      workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
      textDocument: { inlineCompletion: { dynamicRegistration: true } },
    },
  });
  seen.provider = capabilities.inlineCompletionProvider ?? null;
  await connection.sendNotification(InitializedNotification.type, {});
  await untilReady();
  await connection.sendRequest('scripted/answer', { tokens: [...Buffer.from("'é 🤗'")], endless: false });
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'python', version: 1, text: '🤗 =' },
  });
  await connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range: { start: { line: 0, character: 4 }, end: { line: 0, character: 4 } }, text: ' x +' }],
  });
  seen.items = (await connection.sendRequest(InlineCompletionRequest.type, wish(8))).items
    .map(({ insertText, range }) => ({ insertText, range }));
  await connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 3 }, contentChanges: [{ text: 'other = ' }],
  });
  seen.cancelled = await cancelled();
  settings.enable = { '*': false };
  await connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
  const before = seen.asked.length;
  while (seen.asked.length === before) await connection.sendRequest('specls/stats', {});
  // The answer to the server's question is read before this request.
  seen.disabled = (await connection.sendRequest(InlineCompletionRequest.type, wish(8))).items.length;
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  seen.code = await ended;
  console.log(JSON.stringify(seen));
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  server.kill();
  process.exit(1);
});
