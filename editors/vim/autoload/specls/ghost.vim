vim9script

# Text that is seen and isn't there: virtual text at the cursor and in lines below.

const TYPE = 'specls_ghost'

var where = 0
var seen = ''

def Type(buffer: number)
  if empty(prop_type_get(TYPE, {bufnr: buffer}))
    prop_type_add(TYPE, {bufnr: buffer, highlight: 'SpeclsGhost', priority: 9000, combine: false})
  endif
enddef

# Take it away.
export def Hide()
  if where > 0 && bufexists(where)
    prop_remove({type: TYPE, bufnr: where, all: true})
  endif
  where = 0
  seen = ''
enddef

# Show this text behind the cursor. `replaced` stands behind the cursor already: where the
# text ends with it, that isn't shown twice.
export def Show(text: string, replaced: string)
  Hide()
  where = bufnr()
  seen = text
  Type(where)
  var shown = text
  if replaced != '' && strpart(text, strlen(text) - strlen(replaced)) ==# replaced
    shown = strpart(text, 0, strlen(text) - strlen(replaced))
  endif
  var lines = split(shown, "\n", true)
  var first = Expanded(lines[0], virtcol('.') - 1)
  if first != ''
    prop_add(line('.'), col('.'), {type: TYPE, text: first})
  endif
  for below in lines[1 :]
    # An empty text would be no line at all.
    var text_below = below == '' ? ' ' : Expanded(below, 0)
    prop_add(line('.'), 0, {type: TYPE, text_align: 'below', text: text_below})
  endfor
enddef

# What is shown; empty if nothing is.
export def Seen(): string
  return seen
enddef

# With blanks for tabs, which Vim would show as a single one.
def Expanded(text: string, column: number): string
  var parts = split(text, "\t", true)
  var shown = parts[0]
  for part in parts[1 :]
    var width = &tabstop - (column + strdisplaywidth(shown)) % &tabstop
    shown ..= repeat(' ', width) .. part
  endfor
  return shown
enddef
