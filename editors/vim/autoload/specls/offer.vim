vim9script

# The suggestions that there are at the cursor, and which of them is shown.

import autoload './ghost.vim'
import autoload './server.vim'
import autoload './suggestion.vim'

var suggestions: list<dict<any>> = []
var chosen = 0

export def Current(): dict<any>
  return get(suggestions, chosen, suggestion.NONE)
enddef

# Whether what was shown still fits what is typed.
export def Fits(): bool
  return suggestion.Rest(Current()) != ''
enddef

# Whether a suggestion is seen that can be accepted.
export def Visible(): bool
  return ghost.Seen() != '' && Fits()
enddef

# Show what is left of the one that's chosen.
export def Show()
  var current = Current()
  var rest = suggestion.Rest(current)
  if rest == ''
    ghost.Hide()
    return
  endif
  ghost.Show(rest, current.replaced)
  if !current.shown
    current.shown = true
    server.Notify('textDocument/didShowCompletion', {item: current.item})
  endif
enddef

# Show the first of others, instead of those that there were.
export def Take(others: list<dict<any>>)
  Drop(true)
  suggestions = others
  Show()
enddef

# A part of this one was accepted: it's the only one now.
export def Keep(current: dict<any>)
  suggestions = [current]
  chosen = 0
  Show()
enddef

# Show the one that's so many further on; whether there is another one.
export def Cycle(step: number): bool
  if len(suggestions) < 2
    return false
  endif
  chosen = (chosen + step) % len(suggestions)
  Show()
  return true
enddef

# All of one was accepted.
export def Clear()
  ghost.Hide()
  suggestions = []
  chosen = 0
enddef

# Take them away, and tell the server what became of those that were seen: whether they
# were `ignored`, or dismissed.
export def Drop(ignored: bool)
  for each in suggestions
    if each.shown
      server.Notify('specls/didRejectCompletion', {item: each.item, ignored: ignored})
    endif
  endfor
  Clear()
enddef
