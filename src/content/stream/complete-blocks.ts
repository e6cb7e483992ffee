import { parseMarkdown } from '../markdown/parse-markdown.ts'

/**
 * Maximum length of a text that is parsed to find out whether its last block is complete. Some texts take 20 ms per 1,000
 * characters.
 */
const parsedMax = 4_096

/**
 * Returns the length of the start of a Markdown text that consists of complete blocks: no later text can change them.
 * Returns 0 if there is no such start. Finds only boundaries that are certain: an empty line, and then a line without
 * indentation that continues neither a list nor code. Such a line ends all lists and quotes, and the code in them.
 */
export function completeBlocksLength(text: string): number {
  const fences = new FenceReader()
  let complete = 0
  let [isAfterEmpty, hasList, hasText] = [false, false, false]
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start)
    // The last line may be incomplete. Its first characters already show whether it begins a new block.
    const line = text.slice(start, end?.at)
    const isCandidate = isAfterEmpty && hasText && beginsBlock(line, hasList, end !== null)
    if (isCandidate && fences.isClosed(() => text.slice(complete, start))) {
      complete = start
      hasList = false
      fences.reset()
    }
    if (end === null) break
    const isEmpty = blank.test(line)
    fences.add(line, hasList)
    hasText ||= !isEmpty
    hasList ||= listItem.test(line)
    isAfterEmpty = isEmpty
    start = end.at + end.length
  }
  return complete
}

/** Returns the next end of a line: a line feed, a carriage return, or both; null if there is none. */
function lineEnd(text: string, start: number): { readonly at: number; readonly length: number } | null {
  lineBreak.lastIndex = start
  const found = lineBreak.exec(text)
  return found === null ? null : { at: found.index, length: found[0].length }
}

const lineBreak = /\r\n?|\n/g
/** In Markdown, no other white space is blank. */
const blank = /^[ \t]*$/
const listItem = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/
const maybeListItem = /^(?:[-+*]|\d{1,9}[.)]?)/
/** HTML that may contain empty lines. */
const htmlStart = /^ {0,3}<(?:script|pre|style|textarea|!|\?)/i
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
  /** The fence that has begun code; null outside of code. */
  #open: string | null = null
  /** True if only the parser knows whether code or HTML is open. */
  #isUncertain = false

  reset(): void {
    this.#open = null
    this.#isUncertain = false
  }

  /** @param hasList whether the line may be in an item of a list, if it is indented */
  add(line: string, hasList: boolean): void {
    if (this.#open !== null) {
      if (isFenceEnd(line, this.#open)) this.#open = null
      return
    }
    if (htmlStart.test(line)) this.#isUncertain = true
    const found = fenceStart.exec(line)
    if (found === null) return
    const [whole, indentation = '', fence = ''] = found
    // The text after a fence of backticks has no backticks.
    if (fence.startsWith('`') && line.includes('`', whole.length)) return
    if (hasList && indentation !== '') this.#isUncertain = true
    else this.#open = fence
  }

  /** Returns whether no code is open after a text. @param textBefore returns the text since `reset` */
  isClosed(textBefore: () => string): boolean {
    if (!this.#isUncertain) return this.#open === null
    const text = textBefore()
    if (text.length > parsedMax) return false
    // A paragraph after open code would be a part of the code.
    const last = parseMarkdown(`${text}\n\nx`).blocks.at(-1)
    const [only, ...others] = last?.kind === 'paragraph' ? last.content : []
    return only?.kind === 'text' && only.text === 'x' && others.length === 0
  }
}

/** Returns whether a line ends code. Its fence must be at least as long as the first one. */
function isFenceEnd(line: string, fence: string): boolean {
  const [, end = ''] = fenceEnd.exec(line) ?? []
  return end.length >= fence.length && end[0] === fence[0]
}
