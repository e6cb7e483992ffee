/** A command that the README has its readers type. */
export interface Block {
  /** The heading it stands under. */
  readonly heading: string
  readonly text: string
}

/** All blocks of shell commands of a text in Markdown, in their order. */
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
