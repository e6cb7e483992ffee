/** A command of the README for its readers. */
export interface Block {
  /** The nearest heading above it. */
  readonly heading: string
  readonly text: string
}

/** Returns all blocks of shell commands of a Markdown text in order. */
export function shellBlocks(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let heading = ''
  let lines: string[] | null = null
  for (const line of markdown.split('\n')) {
    if (lines !== null) {
      if (line.trim() === '```') {
        blocks.push({ heading, text: lines.join('\n') })
        lines = null
      } else lines.push(line)
    } else if (/^\s*```sh$/.test(line)) lines = []
    else if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
  }
  return blocks
}
