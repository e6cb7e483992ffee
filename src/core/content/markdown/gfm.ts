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

/** A domain. The last two labels of a domain have no underscore, so that `snake_case` is not a domain. */
const domain = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*/u
/** Maximum number of characters of a domain (RFC 1035), so that each address takes bounded time. */
const domainMax = 253
/** Punctuation that does not belong to an address at its end. */
const trailing = '?!.,:*_~\'"'

/**
 * Links bare addresses as the extension "Autolinks" of GFM does: `http://`, `https://`, `ftp://` and `www.` with a
 * domain. The parser's own rules end at characters that may be in an address.
 */
export function useGfmAutolinks(parser: MarkdownIt): void {
  // Links are stored as they are written. Encoding is up to the program that shows them.
  parser.normalizeLink = (url) => url
  parser.normalizeLinkText = (url) => url
  const { linkify } = parser
  linkify.set({ fuzzyLink: false, fuzzyIP: false, fuzzyEmail: true })
  linkify.add('//', null)
  const validate = (text: string, at: number): number =>
    text.startsWith('//', at) ? addressLength(text, at, at + 2) : 0
  for (const scheme of ['http:', 'https:', 'ftp:'])
    linkify.add(scheme, { validate, normalize: () => undefined })
  linkify.add('www.', {
    validate: (text, at) => addressLength(text, at, at),
    normalize: (match) => {
      match.url = `http://${match.url}`
    },
  })
}

/**
 * Returns the number of characters from `from` to the end of an address.
 * @param host offset of the domain, or of its labels after `www.`
 */
function addressLength(text: string, from: number, host: number): number {
  const [found = ''] = domain.exec(text.slice(host, host + domainMax + 1)) ?? []
  const labels = found.split('.').slice(-2)
  if (found === '' || found.length > domainMax || labels.some((label) => label.includes('_'))) return 0
  const end = trimmedEnd(text, from, addressEnd(text, host + found.length))
  return end > host ? end - from : 0
}

/** Returns the offset of the first character that cannot be in an address: white space, `<` or the end of a link. */
function addressEnd(text: string, from: number): number {
  let open = 0
  for (let at = from; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '<' || /\s/.test(character)) return at
    if (character === '[') open += 1
    if (character === ']') open -= 1
    if (open < 0) return at
  }
  return text.length
}

/** Returns the offset after the last character that belongs to the address. */
function trimmedEnd(text: string, from: number, to: number): number {
  let end = to
  let unopened = parenthesesIn(text, from, to)
  while (end > from) {
    const last = text[end - 1] as string
    if (trailing.includes(last)) end -= 1
    else if (last === ';') end = referenceStart(text, from, end) ?? end - 1
    else if (last === ')' && unopened > 0) {
      unopened -= 1
      end -= 1
    } else return end
  }
  return end
}

/** Returns the number of closing parentheses minus that of opening ones. */
function parenthesesIn(text: string, from: number, to: number): number {
  let unopened = 0
  for (let at = from; at < to; at += 1)
    if (text[at] === ')') unopened += 1
    else if (text[at] === '(') unopened -= 1
  return unopened
}

/** Returns the offset of a reference to a character, such as `&amp;`, that ends at `end`; null if there is none. */
function referenceStart(text: string, from: number, end: number): number | null {
  let at = end - 2
  while (at > from && /[a-z]/i.test(text[at] as string)) at -= 1
  return text[at] === '&' && at < end - 2 ? at : null
}
