import { blockStarts } from '../markdown/parse-markdown.ts'

/** Maximum length of a text that is parsed to find out whether its last block is complete. */
const parsedMax = 8_192

/** A line that is certainly after an empty line, and that begins a block if no code is open before it. */
interface Candidate {
  /** Position and number of the line, counted from the last complete block. */
  readonly at: number
  readonly line: number
}

/**
 * Finds complete blocks of a Markdown text that arrives in pieces: no later text can change them. Finds only boundaries
 * that are certain: an empty line, and then a line without indentation that continues neither a list nor code. Such a
 * line ends all lists and quotes, and the code in them. A call continues where the last one ended, and parses the text at
 * most once, only up to a boundary that was not parsed before.
 */
export class CompleteBlocks {
  readonly #startsOf: typeof blockStarts
  readonly #fences = new FenceReader()
  /** The first line that was not read as a whole, counted as in `Candidate`. */
  #next: Candidate = { at: 0, line: 0 }
  #isAfterEmpty = false
  #hasList = false
  #hasText = false
  /** Candidates that only the parser can decide. */
  #uncertain: Candidate[] = []
  /** Position of the last candidate that the parser has decided; -1 without one. */
  #decided = -1

  /** @param startsOf the parser of blocks */
  constructor(startsOf = blockStarts) {
    this.#startsOf = startsOf
  }

  /**
   * Returns the length of the complete blocks at the start of a text; 0 if there are none. The caller must take them.
   * @param text the rest of the text of the last call, without its complete blocks, and everything that arrived since
   */
  take(text: string): number {
    let complete = this.#read(text, 0)
    if (this.#uncertain.length > 0) {
      const closed = this.#decide(text, complete)
      if (closed > 0) {
        this.#restart()
        complete = this.#read(text, complete + closed)
      }
    }
    return complete
  }

  /** Reads the lines that follow. Returns the end of the complete blocks. @param from start of the next block */
  #read(text: string, from: number): number {
    let complete = from
    for (;;) {
      const { at, line: number } = this.#next
      const start = complete + at
      const end = start < text.length ? lineEnd(text, start) : null
      // The last line may be incomplete. Its first characters already show whether it begins a new block.
      const line = text.slice(start, end?.at)
      const isCandidate =
        this.#isAfterEmpty && this.#hasText && beginsBlock(line, this.#hasList, end !== null)
      if (isCandidate && this.#isBoundary(this.#next)) {
        complete = start
        this.#restart()
      }
      if (end === null) return complete
      const isEmpty = blank.test(line)
      this.#fences.add(line, this.#hasList)
      this.#hasText ||= !isEmpty
      this.#hasList ||= listItem.test(line)
      this.#isAfterEmpty = isEmpty
      const isRestarted = start === complete
      this.#next = { at: end.at + end.length - complete, line: isRestarted ? 1 : number + 1 }
    }
  }

  /** Returns whether a block certainly ends before a candidate. */
  #isBoundary(candidate: Candidate): boolean {
    if (!this.#fences.isUncertain) return !this.#fences.isOpen
    const known = this.#uncertain.at(-1)?.at ?? this.#decided
    if (candidate.at > known && candidate.at <= parsedMax) this.#uncertain.push(candidate)
    return false
  }

  /** Returns the position of the last uncertain candidate at which a block begins; 0 if there is none. */
  #decide(text: string, from: number): number {
    const candidates = this.#uncertain
    const last = candidates.at(-1) as Candidate
    this.#uncertain = []
    this.#decided = last.at
    // The line of the last candidate may be incomplete. If code is open, a paragraph is a part of the code.
    const starts = this.#startsOf(`${text.slice(from, from + last.at)}x`)
    return candidates.findLast(({ line }) => starts.has(line))?.at ?? 0
  }

  #restart(): void {
    this.#fences.reset()
    this.#next = { at: 0, line: 0 }
    this.#isAfterEmpty = false
    this.#hasList = false
    this.#hasText = false
    this.#uncertain = []
    this.#decided = -1
  }
}

/**
 * Returns the next end of a line: a line feed, a carriage return, or both; null if there is none. After a carriage return
 * at the end of the text, a line feed may follow.
 */
function lineEnd(text: string, start: number): { readonly at: number; readonly length: number } | null {
  lineBreak.lastIndex = start
  const found = lineBreak.exec(text)
  return found === null ? null : { at: found.index, length: found[0].length }
}

const lineBreak = /\r\n|\r(?!$)|\n/g
/** In Markdown, no other white space is blank. */
const blank = /^[ \t]*$/
const listItem = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/
const maybeListItem = /^(?:[-+*]|\d{1,9}[.)]?)/
/** HTML that may contain empty lines: how it starts, and how its last line ends it. */
const htmlBlocks: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^( {0,3})<(?:script|pre|style|textarea)(?=\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^( {0,3})<!--/, /-->/],
  [/^( {0,3})<\?/, /\?>/],
  [/^( {0,3})<![A-Za-z]/, />/],
  [/^( {0,3})<!\[CDATA\[/, /\]\]>/],
]
/** HTML that ends at an empty line. Fences and other HTML before this line are a part of it. */
const otherHtml = /^ {0,3}<\/?[a-z]/i
const fenceEnd = /^ {0,3}(`+|~+)[ \t]*$/
const fenceStart = /^( {0,3})(`{3,}|~{3,})/

/**
 * Returns whether a line after an empty line begins a block at the top level.
 * @param isWhole false if more of the line may follow
 */
function beginsBlock(line: string, hasList: boolean, isWhole: boolean): boolean {
  if (line === '' || /^\s/.test(line)) return false
  // An item continues a list before it. Without the end of the line, a number can still become an item.
  return !(hasList && (isWhole ? listItem : maybeListItem).test(line))
}

/** Follows the fences of code at the top level, and HTML that may contain empty lines. */
class FenceReader {
  /** Returns whether a line ends the code or the HTML that is open; null if nothing is open. */
  #endsAt: ((line: string) => boolean) | null = null
  #isUncertain = false
  /** True if the line may be in HTML that ends at an empty line. */
  #mayBeHtml = false

  /** True if only the parser knows whether code or HTML is open. */
  get isUncertain(): boolean {
    return this.#isUncertain
  }

  /** True if code or HTML is open. */
  get isOpen(): boolean {
    return this.#endsAt !== null
  }

  reset(): void {
    this.#endsAt = null
    this.#isUncertain = false
    this.#mayBeHtml = false
  }

  /** @param hasList whether the line may be in an item of a list, if it is indented */
  add(line: string, hasList: boolean): void {
    if (this.#endsAt !== null) {
      if (this.#endsAt(line)) this.#endsAt = null
      return
    }
    const found = htmlAt(line) ?? fenceAt(line)
    if (found === null) {
      this.#mayBeHtml = otherHtml.test(line) || (this.#mayBeHtml && !blank.test(line))
      return
    }
    if (this.#mayBeHtml || (hasList && found.isIndented)) this.#isUncertain = true
    else this.#endsAt = found.endsAt
  }
}

interface OpenedCode {
  readonly isIndented: boolean
  /** As in `FenceReader`. */
  readonly endsAt: ((line: string) => boolean) | null
}

/** Returns the HTML that a line begins; null if it begins none. */
function htmlAt(line: string): OpenedCode | null {
  for (const [start, end] of htmlBlocks) {
    const found = start.exec(line)
    if (found === null) continue
    const endsAt = (later: string): boolean => end.test(later)
    return { isIndented: found[1] !== '', endsAt: end.test(line) ? null : endsAt }
  }
  return null
}

/** Returns the code that the fence of a line begins; null if it begins none. */
function fenceAt(line: string): OpenedCode | null {
  const found = fenceStart.exec(line)
  if (found === null) return null
  const [whole, indentation = '', fence = ''] = found
  // The text after a fence of backticks has no backticks.
  if (fence.startsWith('`') && line.includes('`', whole.length)) return null
  return { isIndented: indentation !== '', endsAt: (later) => isFenceEnd(later, fence) }
}

/** Returns whether a line ends code. Its fence must be at least as long as the first one. */
function isFenceEnd(line: string, fence: string): boolean {
  const [, end = ''] = fenceEnd.exec(line) ?? []
  return end.length >= fence.length && end[0] === fence[0]
}
