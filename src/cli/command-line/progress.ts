import type { Progress } from '../../capabilities/backups/storage/storage-error.ts'

const width = 30
/** Minimum progress between two lines if the output is not a terminal, as a fraction of 1. */
const lineEvery = 0.25

/**
 * Shows the progress of a command on standard error: a bar on a terminal, otherwise lines. `end` removes the
 * bar.
 * @param how `json`: shows no progress
 */
export function showProgress(
  name: string,
  how: 'text' | 'json',
): { readonly at: Progress; readonly end: () => void } {
  const { stderr } = process
  if (how === 'json') return { at: () => undefined, end: () => undefined }
  let shown = ''
  const show = (text: string, written: string): void => {
    if (text === shown) return
    shown = text
    stderr.write(written)
  }
  const bar: Progress = (step, share) => {
    const filled = Math.floor(Math.min(1, share) * width)
    const text = `${name}: ${step} [${'#'.repeat(filled)}${'-'.repeat(width - filled)}]`
    show(text, `\r\u001b[K${text}`)
  }
  const lines: Progress = (step, share) => {
    const percent = Math.floor(Math.min(1, share) / lineEvery) * lineEvery * 100
    const text = `${name}: ${step.replace(/ \d+ MB$/, '')} ${percent} %`
    show(text, `${text}\n`)
  }
  return {
    at: stderr.isTTY ? bar : lines,
    end: stderr.isTTY ? () => void stderr.write('\r\u001b[K') : () => undefined,
  }
}
