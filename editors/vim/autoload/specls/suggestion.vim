vim9script

# One suggestion: where it belongs, and what of it is still to come.
#
# A dictionary with
#   item      as the server sent it; all that is said of it later names this
#   buffer    number of the buffer
#   lnum      the line of the cursor
#   start     where `text` begins in it, in bytes
#   text      what is to stand there; lines end with \n
#   replaced  what stands behind the cursor and goes when it's accepted
#   tail      what stands behind that and stays
#   crlf      whether the server's own text ends lines with \r\n
#   done      how many bytes of the whole text lie before `text`
#   shown     whether it was told that it was shown

import autoload './utf16.vim'

export const NONE: dict<any> = {}

# The suggestion of an item that was asked for at a place: {buffer, lnum, line, column},
# the column in bytes. NONE if it can't be shown as text behind the cursor.
export def Make(item: dict<any>, place: dict<any>): dict<any>
  var insert = type(item.insertText) == v:t_dict ? item.insertText.value : item.insertText
  var range = get(item, 'range', v:null)
  var start = place.column
  var end = place.column
  if type(range) == v:t_dict
    if range.start.line != place.lnum - 1 || range.end.line != place.lnum - 1
      return NONE
    endif
    start = utf16.Byte(place.line, range.start.character)
    end = utf16.Byte(place.line, range.end.character)
  endif
  if start > place.column || end < place.column
    return NONE
  endif
  return {
    item: item, buffer: place.buffer, lnum: place.lnum, start: start,
    text: substitute(insert, "\r", '', 'g'),
    replaced: strpart(place.line, place.column, end - place.column),
    tail: strpart(place.line, end),
    crlf: stridx(insert, "\r\n") >= 0, done: 0, shown: false,
  }
enddef

# What of it would follow the cursor now; empty if it doesn't fit any more. It does while
# what was typed since is what it says.
export def Rest(suggestion: dict<any>): string
  if empty(suggestion) || suggestion.buffer != bufnr() || suggestion.lnum != line('.')
    return ''
  endif
  var line = getline('.')
  var column = col('.') - 1
  if column < suggestion.start || strpart(line, column) !=# suggestion.replaced .. suggestion.tail
    return ''
  endif
  var typed = strpart(line, suggestion.start, column - suggestion.start)
  if strpart(suggestion.text, 0, strlen(typed)) !=# typed
    return ''
  endif
  return strpart(suggestion.text, strlen(typed))
enddef

# The first word of a text, with the blanks and ends of lines before it.
export def Word(rest: string): string
  return matchstr(rest, '^\_s*\%(\k\+\|\%(\k\@!\S\)\+\|$\)')
enddef

# The rest of the first line; where nothing is left of that, the next one with its end.
export def Line(rest: string): string
  return matchstr(rest, '^\n*[^\n]\+') ?? rest
enddef

# Put the beginning of what's left into the buffer, and the cursor behind it. `whole`
# tells that it's all of it: then what it replaces goes.
export def Insert(suggestion: dict<any>, piece: string, whole: bool)
  var line = getline('.')
  var column = col('.') - 1
  var before = strpart(line, 0, column)
  var after = strpart(line, column + (whole ? strlen(suggestion.replaced) : 0))
  var lines = split(before .. piece, "\n", true)
  var typed = column - suggestion.start
  var end = strlen(lines[-1])
  lines[-1] ..= after
  setline('.', lines[0])
  if len(lines) > 1
    append('.', lines[1 :])
  endif
  cursor(line('.') + len(lines) - 1, end + 1)
  suggestion.done += typed + strlen(piece)
  suggestion.text = strpart(suggestion.text, typed + strlen(piece))
  suggestion.lnum = line('.')
  suggestion.start = end
enddef

# How much of the server's text is in the buffer, in UTF-16 code units.
export def Accepted(suggestion: dict<any>): number
  var whole = substitute(InsertText(suggestion), "\r", '', 'g')
  var part = strpart(whole, 0, suggestion.done)
  return utf16.Units(part) + (suggestion.crlf ? count(part, "\n") : 0)
enddef

def InsertText(suggestion: dict<any>): string
  var insert = suggestion.item.insertText
  return type(insert) == v:t_dict ? insert.value : insert
enddef
