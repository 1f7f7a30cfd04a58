vim9script

# Which buffers the server knows, and keeping it informed of them.
#
# Changes are sent as whole lines, so that no column has to be counted: Vim tells which
# lines changed. Several changes become one, around all of them.

import autoload './options.vim'
import autoload './server.vim'
import autoload './uri.vim'

# By number of the buffer: uri, version, lines (how many the server has), listener.
var known: dict<dict<any>> = {}

# Filetypes whose names are others in the protocol.
const LANGUAGES = {
  cs: 'csharp', 'javascript.jsx': 'javascriptreact', 'typescript.tsx': 'typescriptreact',
  make: 'makefile', objc: 'objective-c', objcpp: 'objective-cpp', ps1: 'powershell',
  sh: 'shellscript', bash: 'shellscript', zsh: 'shellscript', tex: 'latex', plaintex: 'tex',
  text: 'plaintext',
}

export def Known(buffer: number): bool
  return has_key(known, string(buffer))
enddef

export def Identifier(buffer: number): dict<any>
  return {uri: known[string(buffer)].uri}
enddef

# What ends a line in the file.
export def Ending(buffer: number): string
  return {dos: "\r\n", mac: "\r"}->get(getbufvar(buffer, '&fileformat'), "\n")
enddef

def Text(buffer: number, first = 1, last = -1): string
  var ending = Ending(buffer)
  var lines = getbufline(buffer, first, last < 0 ? '$' : last)
  return join(lines, ending) .. (empty(lines) ? '' : ending)
enddef

def LineCount(buffer: number): number
  return getbufinfo(buffer)[0].linecount
enddef

def UriOf(buffer: number): string
  var name = bufname(buffer)
  if name =~ '^[A-Za-z][A-Za-z0-9+.-]\+://'
    return name
  endif
  return name == '' ? $'untitled:Untitled-{buffer}' : uri.Of(name)
enddef

# Tell the server of a buffer, if there are to be suggestions in it.
export def Open(buffer: number)
  if Known(buffer) || !bufloaded(buffer) || !options.Wants(buffer)
    return
  endif
  server.Start()
  if !server.Ready()
    return
  endif
  var filetype = getbufvar(buffer, '&filetype')
  var name = UriOf(buffer)
  known[string(buffer)] = {
    uri: name, version: 1, lines: LineCount(buffer), listener: listener_add(Changed, buffer),
  }
  server.Notify('textDocument/didOpen', {textDocument: {
    uri: name, languageId: get(LANGUAGES, filetype, filetype), version: 1, text: Text(buffer),
  }})
enddef

# Tell of all buffers that are loaded.
export def OpenAll()
  for buffer in getbufinfo({bufloaded: 1})
    Open(buffer.bufnr)
  endfor
  Focus(bufnr())
enddef

export def Close(buffer: number)
  if Known(buffer)
    server.Notify('textDocument/didClose', {textDocument: Identifier(buffer)})
    listener_remove(known[string(buffer)].listener)
    known->remove(string(buffer))
  endif
enddef

# The server is gone, and with it what it knew.
export def ForgetAll()
  for each in values(known)
    listener_remove(each.listener)
  endfor
  known = {}
enddef

# Begin anew with a buffer: its name or language is another one.
export def Reopen(buffer: number)
  Close(buffer)
  Open(buffer)
enddef

export def Focus(buffer: number)
  server.Notify('textDocument/didFocus', Known(buffer) ? {textDocument: Identifier(buffer)} : {})
enddef

export def Saved(buffer: number)
  if Known(buffer)
    server.Notify('textDocument/didSave', {textDocument: Identifier(buffer)})
  endif
enddef

# Send what changed so far; after that the server has what the buffer has.
export def Flush(buffer: number)
  listener_flush(buffer)
enddef

# Send all of a buffer: it was read again, or ends its lines in another way.
export def Resend(buffer: number)
  if Known(buffer)
    listener_flush(buffer)
    Send(buffer, {text: Text(buffer)})
  endif
enddef

def Send(buffer: number, change: dict<any>)
  var document = known[string(buffer)]
  document.version += 1
  document.lines = LineCount(buffer)
  server.Notify('textDocument/didChange', {
    textDocument: {uri: document.uri, version: document.version},
    contentChanges: [change],
  })
enddef

# See listener_add().
def Changed(buffer: number, _: number, _: number, _: number, changes: list<dict<number>>)
  var all = Union(changes)
  var document = known[string(buffer)]
  if document.lines + all.now - all.end != LineCount(buffer)
    Send(buffer, {text: Text(buffer)})
    return
  endif
  Send(buffer, {
    range: {start: {line: all.start - 1, character: 0}, end: {line: all.end - 1, character: 0}},
    text: all.now > all.start ? Text(buffer, all.start, all.now - 1) : '',
  })
enddef

# One change around some that were made one after the other: lines `start` to `end` (not
# included) are `start` to `now` afterwards.
export def Union(changes: list<dict<number>>): dict<number>
  var start = changes[0].lnum
  var end = changes[0].end
  var now = end
  for change in changes
    start = min([start, change.lnum])
    if change.end > now
      end += change.end - now
      now = change.end
    endif
    now += change.added
  endfor
  return {start: start, end: end, now: now}
enddef
