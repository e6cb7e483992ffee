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

/** A step of a tutorial: commands to type, or a file to write. */
export type TutorialStep =
  | { readonly kind: 'commands'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string }

/** Returns the steps of a tutorial in order. The word after the language of a file is its path. */
export function tutorialSteps(markdown: string): readonly TutorialStep[] {
  return fences(markdown).flatMap(({ info, text }): TutorialStep[] => {
    const [language = '', path = ''] = info.split(' ')
    if (language === 'sh') return [{ kind: 'commands', text }]
    return path.includes('.') ? [{ kind: 'file', path, text: `${text}\n` }] : []
  })
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
