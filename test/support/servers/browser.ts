import { type Browser, chromium } from 'playwright-core'
import { pathOf } from '../needs.ts'

export function openBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  return chromium.launch({ executablePath: pathOf('chromium'), headless: true, args })
}
