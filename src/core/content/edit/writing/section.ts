import type { FlowView, TextBlock } from '../targets/flow-view.ts'

/** Returns the index of the first block after the section of a heading. */
export function sectionEnd({ blocks }: FlowView, heading: number): number {
  const level = blocks[heading]?.level ?? 0
  for (let index = heading + 1; index < blocks.length; index++) {
    const next = (blocks[index] as TextBlock).level
    if (next !== null && next <= level) return index
  }
  return blocks.length
}
