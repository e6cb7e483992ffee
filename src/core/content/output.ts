import { exhausted, type LimitName } from '../quota/limits.ts'

/**
 * Maximum number of UTF-16 units that a read of a document may produce, if the result is compared with new
 * content.
 */
const comparedCharactersMax = 16_777_216
/** Maximum number of UTF-16 units that a read of a root may produce, if the caller sets no limit. */
export const readMax = 67_108_864
/**
 * Seconds after which a caller may repeat the call. The call succeeds only if the document has become
 * smaller.
 */
const retryAfterSeconds = 60

/**
 * Counts the text that a read produces, including repeated text. Only XML, and text inside other values,
 * repeat content that the document stores once. In other formats, repeated values refer to the same object
 * until they are encoded.
 */
export class Output {
  readonly #max: number
  readonly #limit: LimitName
  #characters = 0

  /**
   * Creates a counter for one read.
   * @param max the limit of a response; absent if the output is compared with new content
   */
  constructor(max?: number) {
    this.#max = max ?? comparedCharactersMax
    this.#limit = max === undefined ? 'comparedCharacters' : 'maxResponseBytes'
  }

  /**
   * Counts output.
   * @throws ApiError RESOURCE_EXHAUSTED if the limit is exceeded
   */
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
