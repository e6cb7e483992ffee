import type { BlockMarks, Inline, InlineText } from '../blocks/block.ts'
import { addText } from '../blocks/block-builders.ts'

/**
 * Reads a line. White space collapses as in HTML: several characters become one space, and there is none at
 * the start and end of a line, unless a style keeps it. Adjacent texts with the same marks are joined.
 */
export class LineReader {
  /** True if the style of the elements around the next text keeps white space. */
  keepsSpaces = false
  #content: Inline[] = []
  /** True if white space has no effect: at the start, and after white space. */
  #atSpace = true
  /** True if a line break alone is an empty line. */
  #isBlank = true

  text(text: string, marks: BlockMarks): void {
    if (this.keepsSpaces) {
      text.split(/\r?\n/).forEach((line, index) => {
        if (index > 0) this.lineBreak(true)
        addText(this.#content, line, marks)
        if (line !== '') this.#atSpace = false
      })
      return
    }
    const collapsed = text.replace(/[ \t\n\r\f]+/g, ' ')
    const shown = this.#atSpace && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed
    addText(this.#content, shown, marks)
    if (shown !== '') this.#atSpace = shown.endsWith(' ')
  }

  /** @param isContent whether a line that has only this line break is not empty */
  lineBreak(isContent: boolean): void {
    this.#trimEnd()
    this.#isBlank &&= !isContent
    this.#content.push({ kind: 'hardBreak' })
    this.#atSpace = true
  }

  atom(inline: Exclude<Inline, InlineText>): void {
    this.#content.push(inline)
    this.#atSpace = false
  }

  /** Returns the line, and starts the next one. Usually, a line break alone is an empty line, as in editors. */
  take(): readonly Inline[] {
    this.#trimEnd()
    const content = this.#content
    const isEmpty = this.#isBlank && content.length === 1 && content[0]?.kind === 'hardBreak'
    this.#content = []
    this.#atSpace = true
    this.#isBlank = true
    return isEmpty ? [] : content
  }

  #trimEnd(): void {
    const last = this.#content.at(-1)
    if (!this.#atSpace || last?.kind !== 'text') return
    const text = last.text.slice(0, -1)
    if (text === '') this.#content.pop()
    else this.#content[this.#content.length - 1] = { ...last, text }
  }
}
