import { endOfString } from './json-depth.ts'

/** Characters of a text that V8 parses at once. Many different names in it take 5 ms. */
const pieceLength = 65_536

/** Characters of a text in which brackets are searched at once, which takes 2 ms. */
const scannedLength = 262_144

const closers = { '{': '}', '[': ']' } as const
type Opener = keyof typeof closers

/** A text in place of a value, which no number or word can extend. */
const placeholder = '[]'

/**
 * Parses JSON as `JSON.parse`, in steps between which other work can run. V8 parses a text in one step, and takes
 * 0.5 to 1 µs for each different name or short string in it. The nesting of the text must be limited
 * (`measureJson`).
 * @throws SyntaxError if the text is not JSON; its message has no position
 */
export function* parseInPieces(text: string): Generator<void, unknown, void> {
  const start = text.search(/[[{]/)
  const ends = yield* endsOfLong(text)
  const end = ends.get(start)
  if (end === undefined) return JSON.parse(text)
  expectAround(text.slice(0, start), text.slice(end + 1))
  return yield* new LongJson(text, ends).parse(start)
}

/** Checks the texts before and after a value. */
function expectAround(before: string, after: string): void {
  JSON.parse(`${before}${placeholder}${after}`)
}

/** Returns the offset of the last character of each array and object that is longer than a piece, by its first one. */
function* endsOfLong(text: string): Generator<void, ReadonlyMap<number, number>, void> {
  const ends = new Map<number, number>()
  const open: number[] = []
  let pauseAt = scannedLength
  for (let at = 0; at < text.length; at++) {
    if (at > pauseAt) {
      pauseAt = at + scannedLength
      yield
    }
    const character = text[at]
    if (character === '"') at = endOfString(text, at + 1)
    else if (character === '{' || character === '[') open.push(at)
    else if (character === '}' || character === ']') {
      const start = open.pop()
      if (start !== undefined && at - start > pieceLength) ends.set(start, at)
    }
  }
  return ends
}

/** Parses the long arrays and objects of a text. Each part of the text is read once, in its innermost long value. */
class LongJson {
  readonly #text: string
  readonly #ends: ReadonlyMap<number, number>

  constructor(text: string, ends: ReadonlyMap<number, number>) {
    this.#text = text
    this.#ends = ends
  }

  /** Parses the long value that starts at `start`. */
  *parse(start: number): Generator<void, unknown, void> {
    const text = this.#text
    const last = this.#ends.get(start) as number
    const members = new JoinedMembers(text[start] as Opener)
    if (text[last] !== members.closer) throw new SyntaxError('brackets do not match')
    let depth = 0
    // The members from `from` on are not parsed; the last of them starts at `memberFrom`.
    let from = start + 1
    let memberFrom = from
    for (let at = from; at < last; at++) {
      const character = text[at]
      if (character === '"') at = endOfString(text, at + 1)
      else if (character === '}' || character === ']') depth -= 1
      else if (character === ',' && depth === 0) {
        memberFrom = at + 1
        if (at - from < pieceLength) continue
        members.add(text.slice(from, at))
        from = memberFrom
        yield
      } else if (character === '{' || character === '[') {
        const end = this.#ends.get(at)
        depth += end === undefined ? 1 : 0
        if (end === undefined) continue
        if (memberFrom > from) members.add(text.slice(from, memberFrom - 1))
        const next = this.#afterMember(end + 1, last)
        members.addLong(text.slice(memberFrom, at), yield* this.parse(at), text.slice(end + 1, next))
        if (next === last) return members.value
        from = next + 1
        memberFrom = from
        at = next
      }
    }
    members.add(text.slice(from, last), members.isEmpty)
    return members.value
  }

  /** Returns the offset of the comma after a long member, or `last` if there is none. */
  #afterMember(from: number, last: number): number {
    const comma = this.#text.indexOf(',', from)
    return comma < 0 || comma > last ? last : comma
  }
}

/** The members of an array or object whose text arrives in parts. */
class JoinedMembers {
  readonly closer: string
  readonly #opener: Opener
  readonly value: Record<string, unknown> | unknown[]
  #count = 0

  constructor(opener: Opener) {
    this.#opener = opener
    this.closer = closers[opener]
    this.value = opener === '[' ? [] : {}
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Adds members that commas separate. @param mayBeEmpty true if an empty text is valid */
  add(members: string, mayBeEmpty = false): void {
    const parsed = JSON.parse(`${this.#opener}${members}${this.closer}`) as
      | Record<string, unknown>
      | unknown[]
    const before = this.#count
    // A list may have very many values, so nothing is created for each of them.
    if (Array.isArray(parsed)) for (const value of parsed) this.#set('', value)
    else for (const [name, value] of Object.entries(parsed)) this.#set(name, value)
    if (this.#count === before && !mayBeEmpty) throw new SyntaxError('a member is missing')
  }

  /** Adds a member whose value is parsed. `before` has the name and the colon if this is an object. */
  addLong(before: string, value: unknown, after: string): void {
    const text = `${this.#opener}${before}${placeholder}${after}${this.closer}`
    for (const name of Object.keys(JSON.parse(text) as object)) this.#set(name, value)
  }

  #set(name: string, value: unknown): void {
    this.#count += 1
    if (Array.isArray(this.value)) this.value.push(value)
    else if (name !== '__proto__') this.value[name] = value
    // An assignment would change the prototype.
    else
      Object.defineProperty(this.value, name, { value, writable: true, enumerable: true, configurable: true })
  }
}
