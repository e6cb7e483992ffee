import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Page } from 'playwright-core'

/** Size of a cell in CSS pixels. A line of text has at least one row of cells. */
const cell = 20
/** Largest value of a cell. */
const most = 15
/** Difference of two values that counts, of `most`. The smoothing of other fonts differs by less. */
const tolerance = 4

/**
 * The content of a picture: the darkest and the lightest value of each cell, row by row. Text with the color of its
 * background has two equal values.
 */
export interface Picture {
  readonly columns: number
  readonly values: Uint8Array
}

/**
 * Texts that differ from run to run get fixed values, and charts are hidden. A monospaced font has the same width on
 * each machine.
 */
const prepare = `(() => {
  if (document.adoptedStyleSheets.length === 0) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync('* { font-family: monospace !important } canvas { visibility: hidden }')
    document.adoptedStyleSheets = [sheet]
  }
  const fixed = (text) => text.replace(/[\\w:.,-]*\\d[\\w:.,-]*|[\\w-]{16,}/g, '0')
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode: node } = texts
    const text = node.parentElement.localName === 'time' ? '0' : fixed(node.data)
    if (node.data !== text) node.data = text
  }
  for (const input of document.querySelectorAll('input')) input.value = fixed(input.value)
})()`

/** Takes a picture of the visible part of a page. */
export async function pictureOf(page: Page): Promise<{ readonly png: Buffer; readonly picture: Picture }> {
  await page.evaluate(prepare)
  const png = await page.screenshot({ animations: 'disabled' })
  const url = `data:image/png;base64,${png.toString('base64')}`
  const values = await page.evaluate(
    async ([source, size, scale]) => {
      const image = Object.assign(new Image(), { src: source })
      await image.decode()
      const { width, height } = image
      const context = new OffscreenCanvas(width, height).getContext('2d')
      if (context === null) throw new Error('no canvas')
      context.drawImage(image, 0, 0)
      const found: number[] = []
      for (let y = 0; y < height; y += size)
        for (let x = 0; x < width; x += size) {
          const { data } = context.getImageData(x, y, size, size)
          const lights: number[] = []
          for (let at = 0; at < data.length; at += 4) {
            const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
            lights.push(0.3 * red + 0.59 * green + 0.11 * blue)
          }
          for (const value of [Math.min(...lights), Math.max(...lights)])
            found.push(Math.round((value / 255) * scale))
        }
      return found
    },
    [url, cell, most] as const,
  )
  const columns = (page.viewportSize()?.width ?? 0) / cell
  return { png, picture: { columns, values: Uint8Array.from(values) } }
}

/** Returns the cells of a picture that have no similar cell in another picture, at the same place or next to it. */
function unmatchedCells({ columns, values }: Picture, other: Picture): readonly number[] {
  const rows = values.length / 2 / columns
  const isSimilar = (at: number, there: number): boolean =>
    [0, 1].every(
      (part) => Math.abs((values[2 * at + part] ?? 0) - (other.values[2 * there + part] ?? 0)) <= tolerance,
    )
  return Array.from({ length: rows * columns }, (_, at) => at).filter((at) => {
    const [row, column] = [Math.floor(at / columns), at % columns]
    for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++)
      for (let x = Math.max(0, column - 1); x <= Math.min(columns - 1, column + 1); x++)
        if (isSimilar(at, y * columns + x)) return false
    return true
  })
}

/** Returns the places that only one of two pictures has, in CSS pixels. */
export function differencesOf(one: Picture, other: Picture): readonly string[] {
  if (one.columns !== other.columns || one.values.length !== other.values.length) return ['the size']
  const cells = new Set([...unmatchedCells(one, other), ...unmatchedCells(other, one)])
  return [...cells].map((at) => `${(at % one.columns) * cell},${Math.floor(at / one.columns) * cell}`)
}

/** A picture as text. */
export const encodePicture = ({ columns, values }: Picture): string =>
  `${columns} ${deflateRawSync(packed(values), { level: 9 }).toString('base64')}`

export function decodePicture(text: string): Picture {
  const [columns = '', data = ''] = text.split(' ')
  const pairs = inflateRawSync(Buffer.from(data, 'base64'))
  return {
    columns: Number(columns),
    values: Uint8Array.from([...pairs].flatMap((pair) => [pair >> 4, pair & 15])),
  }
}

/** Two values in one byte. */
const packed = (values: Uint8Array): Uint8Array =>
  Uint8Array.from(
    { length: values.length / 2 },
    (_, at) => ((values[2 * at] ?? 0) << 4) | (values[2 * at + 1] ?? 0),
  )
