import type { Output } from '../output.ts'

/** An element around text that is its formatting. */
export interface FormattingTag {
  readonly name: string
  readonly start: string
}

/** Collects the text of XML or HTML. */
export class TagWriter {
  readonly #output: Output
  readonly #parts: string[] = []

  constructor(output: Output) {
    this.#output = output
  }

  get text(): string {
    return this.#parts.join('')
  }

  push(part: string): void {
    this.#output.count(part.length)
    this.#parts.push(part)
  }

  /** Closes and opens elements between two ranges. Outer elements that both ranges have stay open. */
  change(open: readonly FormattingTag[], wanted: readonly FormattingTag[]): readonly FormattingTag[] {
    let shared = 0
    while (shared < open.length && open[shared]?.start === wanted[shared]?.start) shared += 1
    for (const { name } of open.slice(shared).reverse()) this.push(`</${name}>`)
    for (const { start } of wanted.slice(shared)) this.push(start)
    return wanted
  }
}
