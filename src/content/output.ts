import { exhausted, type LimitName } from '../quota/limits.ts'

/** Maximum number of UTF-16 units of a document's values as text when a change compares them. */
const comparedCharactersMax = 16_777_216
/** Maximum number of UTF-16 units of a root's values as text when a caller reads it without its own limit. */
export const readMax = 67_108_864
/** Seconds after which a caller may repeat the call. It succeeds only if the document shrinks. */
const retryAfterSeconds = 60

/**
 * Counts the text of a reading, including repeated text. Only XML and text inside other values repeat what
 * the document stores once; values of other formats share the repeated parts until they are encoded.
 */
export class Output {
  readonly #max: number
  readonly #limit: LimitName
  #characters = 0

  /** @param max the limit of a response; without it, the output is compared with new content */
  constructor(max?: number) {
    this.#max = max ?? comparedCharactersMax
    this.#limit = max === undefined ? 'comparedCharacters' : 'maxResponseBytes'
  }

  /** @throws ApiError RESOURCE_EXHAUSTED */
  count(characters: number): void {
    this.#characters += characters
    if (this.#characters <= this.#max) return
    throw exhausted(this.#limit, this.#max, {
      problem:
        `the content has more than ${this.#max} characters as text, because the document repeats large formatting ` +
        'values in many stretches of text',
      remedy: 'shorten these values, or divide the content among several editors',
      retryAfterSeconds,
    })
  }
}
