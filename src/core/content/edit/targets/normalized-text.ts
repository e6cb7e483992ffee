import { firstIndex } from '../../../base/search.ts'

/** A text in the form in which quotes are compared, with a mapping of its offsets to the original text. */
interface NormalizedText {
  readonly text: string
  /** Returns the original offset at which the character at `offset` starts. */
  rawStart(offset: number): number
  /** Returns the original offset at which the text before `offset` ends. */
  rawEnd(offset: number): number
}

/** Matches a run of white space, or a character with the marks and jamo that may compose with it. */
const segments = /\s+|[^\s][\p{M}\u1160-\u11ff\ud7b0-\ud7fb]+/gu

/** Matches a run of white space that is not one space. */
const otherSpaces = /\s{2,}|[^\S ]/g

/**
 * Maximum number of UTF-16 units of a character with its marks that is converted. The conversion sorts the
 * marks in quadratic time. Real text has fewer than 30 marks in a row.
 */
const composedMax = 100

/**
 * Normalizes a text: each run of white space becomes one space, and the remainder is converted to Unicode
 * NFC, except extremely long runs of marks. The time is linear in the length of the text.
 */
export function normalizeText(raw: string): NormalizedText {
  const writer = new NormalizedWriter()
  const isComposed = isPlain(raw) || (!hasLongRun(raw) && raw.normalize('NFC') === raw)
  let at = 0
  for (const { 0: segment, index } of raw.matchAll(isComposed ? otherSpaces : segments)) {
    writer.plain(raw.slice(at, index), isComposed)
    writer.segment(segment, /^\s/.test(segment) ? ' ' : composed(segment))
    at = index + segment.length
  }
  writer.plain(raw.slice(at), isComposed)
  return writer.end()
}

/** Returns a text in the form in which the whole texts of blocks are compared: normalized, without space at the ends. */
export const comparedText = (raw: string): string => normalizeText(raw.toWellFormed()).text.trim()

/** Returns whether a text has only characters that normalization does not change. */
const isPlain = (raw: string): boolean => !/[\u0300-\uffff]/.test(raw)

function hasLongRun(raw: string): boolean {
  if (!/[\u0300-\uffff]{100}/.test(raw)) return false
  for (const { 0: run } of raw.matchAll(/\p{M}+/gu)) if (run.length > composedMax) return true
  return false
}

const composed = (segment: string): string =>
  segment.length > composedMax ? segment : segment.normalize('NFC')

/** A segment whose length differs between the two forms. Offsets inside the segment have no counterpart. */
interface Segment {
  readonly start: number
  readonly rawStart: number
  readonly length: number
  readonly rawLength: number
}

class NormalizedWriter {
  readonly #parts: string[] = []
  readonly #segments: Segment[] = []
  #length = 0
  #rawLength = 0

  /** Adds text without white space and without marks. */
  plain(raw: string, isComposed: boolean): void {
    if (isComposed || raw.normalize('NFC') === raw) this.#add(raw, raw.length)
    else for (const character of raw) this.segment(character, character.normalize('NFC'))
  }

  segment(raw: string, normalized: string): void {
    const segment = { start: this.#length, rawStart: this.#rawLength }
    this.#add(normalized, raw.length)
    if (normalized.length !== raw.length)
      this.#segments.push({ ...segment, length: normalized.length, rawLength: raw.length })
  }

  end(): NormalizedText {
    const found = this.#segments
    return {
      text: this.#parts.join(''),
      rawStart: (offset) => rawOffset(found, offset, false),
      rawEnd: (offset) => rawOffset(found, offset, true),
    }
  }

  #add(normalized: string, rawLength: number): void {
    if (normalized === '') return
    this.#parts.push(normalized)
    this.#length += normalized.length
    this.#rawLength += rawLength
  }
}

function rawOffset(found: readonly Segment[], offset: number, isEnd: boolean): number {
  // An offset at the start of a segment is the same on both sides, so only segments before it matter.
  const last = found[firstIndex(found.length, (index) => (found[index] as Segment).start >= offset) - 1]
  if (last === undefined) return offset
  const after = offset - last.start - last.length
  if (after < 0) return isEnd ? last.rawStart + last.rawLength : last.rawStart
  return last.rawStart + last.rawLength + after
}
