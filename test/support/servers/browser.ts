import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executable = process.env.WEFT_TEST_BROWSER ?? places.find((place) => existsSync(place))

/**
 * True if tests that need a browser must be skipped. With `WEFT_TEST_REQUIRED=1`, no test may be skipped, so a
 * missing browser makes the tests fail.
 */
export const browserMissing = executable === undefined && process.env.WEFT_TEST_REQUIRED !== '1'

export function skipNotice(): void {
  if (browserMissing) console.log('skipped: no Chromium found (set WEFT_TEST_BROWSER to its path)')
}

export function openBrowser(): Promise<Browser> {
  if (executable === undefined)
    throw new Error('no Chromium: install it, or set WEFT_TEST_BROWSER to its path')
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  return chromium.launch({ executablePath: executable, headless: true, args })
}
