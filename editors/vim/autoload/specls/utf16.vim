vim9script

# Columns: Vim counts bytes, the protocol counts UTF-16 code units. Vim has functions
# for that since 9.0.1485 only, so these are our own.

# How many UTF-16 code units a text has.
export def Units(text: string): number
  var characters = strchars(text)
  if characters == strlen(text)
    return characters
  endif
  var Count = (units: number, code: number): number => code > 0xFFFF ? units + 1 : units
  return reduce(str2list(text), Count, characters)
enddef

# Where in a text (counted in bytes) a number of UTF-16 code units ends: at most at its
# end, and in the middle of a character before that.
export def Byte(text: string, units: number): number
  if strchars(text) == strlen(text)
    return min([units, strlen(text)])
  endif
  var left = units
  var bytes = 0
  for code in str2list(text)
    left -= code > 0xFFFF ? 2 : 1
    if left < 0
      break
    endif
    bytes += strlen(nr2char(code))
  endfor
  return bytes
enddef
