/** A command of the README for its readers. */
export interface Block {
  /** The nearest heading above it. */
  readonly heading: string
  readonly text: string
}

/** A fenced block of Markdown. */
interface Fence extends Block {
  /** The words after the fence. */
  readonly info: string
}

/** Returns all blocks of shell commands of a Markdown text in order. */
export function shellBlocks(markdown: string): readonly Block[] {
  return fences(markdown).filter(({ info }) => info === 'sh')
}

/** Returns all commands below a heading in order, also those that the test of the samples does not run. */
export function commandsBelow(markdown: string, title: string): readonly string[] {
  return fences(markdown)
    .filter(({ heading, info }) => heading === title && /^sh\b/.test(info))
    .map(({ text }) => text)
}

function fences(markdown: string): readonly Fence[] {
  const found: Fence[] = []
  let heading = ''
  let info = ''
  let lines: string[] | null = null
  for (const line of markdown.split('\n')) {
    if (lines !== null) {
      if (line.trim() === '```') {
        found.push({ heading, info, text: lines.join('\n') })
        lines = null
      } else lines.push(line)
    } else if (/^\s*```\w/.test(line)) {
      info = line.trim().slice(3)
      lines = []
    } else if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
  }
  return found
}
