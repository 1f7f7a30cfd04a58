// Formats Lua files with StyLua's library, as its program would with the folder's .stylua.toml.
// usage: node stylua.mjs NODE_MODULES FOLDER [--write]      exit code 1: some file isn't formatted
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, folder, mode] = process.argv.slice(2);
const stylua = createRequire(`${resolve(modules)}/`)('@johnnymorganz/stylua');

function settings() {
  const config = stylua.Config.new();
  const enums = { indent_type: stylua.IndentType, quote_style: stylua.QuoteStyle };
  const lines = readFileSync(join(folder, '.stylua.toml'), 'utf8').trim().split('\n');
  for (const [, key, value] of lines.map((line) => /^(\w+) = "?(\w+)"?$/.exec(line))) {
    config[key] = key in enums ? enums[key][value] : Number(value);
  }
  return config;
}

function luaFiles(path) {
  if (!statSync(path).isDirectory()) return path.endsWith('.lua') ? [path] : [];
  return readdirSync(path).flatMap((name) => luaFiles(join(path, name)));
}

for (const file of luaFiles(folder)) {
  const before = readFileSync(file, 'utf8');
  const after = stylua.formatCode(before, settings(), undefined, stylua.OutputVerification.None);
  if (after === before) continue;
  if (mode === '--write') {
    writeFileSync(file, after);
  } else {
    console.log(`${file} isn't formatted`);
    process.exitCode = 1;
  }
}
