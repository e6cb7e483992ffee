import type { Browser } from 'playwright-core'

/** A window and its position. */
export interface Shot {
  readonly title: string
  readonly place: 'upper' | 'lower' | 'right'
  readonly picture: Buffer
}

const style = `
  body { margin: 0; padding: 28px; background: #e7eeec; font: 600 15px system-ui, sans-serif; color: #134e4a;
    display: grid; grid-template-columns: 640px 876px; grid-template-rows: auto auto; gap: 24px 28px; box-sizing: border-box; width: 1600px }
  figure { margin: 0 }
  figcaption { background: #134e4a; color: #f0fdfa; padding: 6px 14px; border-radius: 9px 9px 0 0 }
  img { display: block; width: 100%; border-radius: 0 0 9px 9px; box-shadow: 0 8px 24px rgb(0 0 0 / 18%) }
  .upper { grid-area: 1 / 1 } .lower { grid-area: 2 / 1 } .right { grid-area: 1 / 2 / span 2 }
  .right img { height: 848px; object-fit: cover; object-position: top }
`

/** Takes one picture of several windows. */
export async function sideBySide(browser: Browser, shots: readonly Shot[]): Promise<Buffer> {
  const figures = shots.map(
    ({ title, place, picture }) =>
      `<figure class="${place}"><figcaption>${title}</figcaption><img src="data:image/png;base64,${picture.toString('base64')}"></figure>`,
  )
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } })
  await page.setContent(`<style>${style}</style>${figures.join('')}`)
  return page.screenshot({ fullPage: true })
}
