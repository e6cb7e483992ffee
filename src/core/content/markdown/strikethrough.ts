import type { MarkdownIt, StateInline } from 'markdown-it'

const tilde = 126
/**
 * Markers of delimiters by the number of their tildes. One tilde closes only one, and two close only two, so
 * that they are different markers for the parser.
 */
const markers = [0, tilde, tilde + 0x1_0000] as const

/**
 * Replaces the strikethrough of the parser, which reads two of several tildes, by that of GFM: one or two
 * tildes on both sides. More tildes are text.
 */
export function useGfmStrikethrough(parser: MarkdownIt): void {
  parser.inline.ruler.at('strikethrough', readTildes)
  parser.inline.ruler2.at('strikethrough', (state) => {
    strike(state, state.delimiters)
    for (const meta of state.tokens_meta) if (meta?.delimiters) strike(state, meta.delimiters)
  })
}

function readTildes(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== tilde) return false
  const { can_open: open, can_close: close, length } = state.scanDelims(state.pos, true)
  state.push('text', '', 0).content = '~'.repeat(length)
  state.pos += length
  const marker = markers[length]
  if (marker !== undefined)
    state.delimiters.push({ marker, length: 0, token: state.tokens.length - 1, end: -1, open, close })
  return true
}

function strike(state: StateInline, delimiters: StateInline['delimiters']): void {
  for (const { marker, end, token } of delimiters) {
    const closer = delimiters[end]
    if (closer === undefined || !(markers as readonly number[]).includes(marker)) continue
    mark(state, token, 's_open', 1)
    mark(state, closer.token, 's_close', -1)
  }
}

function mark(state: StateInline, index: number, type: string, nesting: 1 | -1): void {
  const token = state.tokens[index]
  if (token === undefined) return
  Object.assign(token, { type, tag: 's', nesting, content: '' })
}
