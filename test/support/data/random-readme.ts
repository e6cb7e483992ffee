import type { Random } from './random-doc.ts'

const words = (
  'install server document update merge cursor editor history token client room version backup schema ' +
  'format paragraph user section release note guide cluster webhook plan'
).split(' ')

const sentence = (random: Random): string => {
  const text = Array.from({ length: 3 + random.below(12) }, () => random.pick(words)).join(' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

const marked: readonly ((text: string) => string)[] = [
  (text) => `**${text}**`,
  (text) => `*${text}*`,
  (text) => `\`${text}()\``,
  (text) => `[${text}](https://example.com/${text})`,
]

/** Returns sentences, some with formatted words, on one to three lines. */
function prose(random: Random): string {
  const lines = Array.from({ length: 1 + random.below(3) }, () => {
    const plain = sentence(random)
    if (random.below(2) === 0) return plain
    return `See ${random.pick(marked)(random.pick(words))} and ${plain}`
  })
  return lines.join('\n')
}

const list = (random: Random, marker: (index: number) => string): string =>
  Array.from({ length: 2 + random.below(4) }, (_, index) => {
    const own = `${marker(index)}${sentence(random)}`
    return random.below(4) === 0 ? `${own}\n${' '.repeat(marker(index).length)}- ${sentence(random)}` : own
  }).join('\n')

const blocks: readonly ((random: Random) => string)[] = [
  prose,
  prose,
  (random) => `## ${sentence(random)}`,
  (random) => `### ${random.pick(words)} \`${random.pick(words)}\``,
  (random) => list(random, () => '- '),
  (random) => list(random, (index) => `${index + 1}. `),
  (random) => `\`\`\`js\nconst ${random.pick(words)} = '${random.pick(words)}'\n\`\`\``,
  (random) => `> ${sentence(random)}`,
  (random) => `![${random.pick(words)}](/${random.pick(words)}.png)`,
  () => '---',
]

/** Returns the blocks of a README in Markdown, without HTML. */
export const randomReadme = (random: Random): string[] => [
  `# ${sentence(random)}`,
  ...Array.from({ length: 5 + random.below(25) }, () => random.pick(blocks)(random)),
]

/** Changes the blocks of a README like an author: rewrites, adds, removes or moves blocks. */
export function nextRevision(readme: readonly string[], random: Random): string[] {
  const next = [...readme]
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = random.below(next.length)
    const kind = random.below(6)
    if (kind < 3) next[at] = reworded(next[at] as string, random)
    else if (kind === 3 && next.length > 3) next.splice(at, 1)
    else if (kind === 4) next.splice(random.below(next.length), 0, ...next.splice(at, 1))
    else next.splice(at, 0, random.pick(blocks)(random))
  }
  return next
}

/** Replaces one word. */
const reworded = (block: string, random: Random): string => {
  const known = words.filter((word) => block.includes(word))
  return known.length === 0 ? block : block.replace(random.pick(known), () => random.pick(words))
}
