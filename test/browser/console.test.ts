import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../support/servers/browser.ts'
import { complaintsOf, openConsole, seriousFindings } from '../support/servers/console.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong } from '../support/time/full-run.ts'

describe('the console in Chromium', () => {
  let weft: TestServer
  let browser: Browser
  beforeAll(async () => {
    weft = await startTestServer()
    browser = await openBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await weft?.stop()
  })

  it('[CON-1] signs in with an API key, and shows the reason when it rejects wrong credentials', async () => {
    const page = await browser.newPage()
    const complaints = complaintsOf(page, weft.url)
    await page.goto(`${weft.url}/console`)
    expect(await seriousFindings(page)).toEqual([])
    await page.getByLabel('API key').fill(weft.credentials.apiKey)
    await page.getByLabel('Auth token').fill('not the right one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').filter({ hasText: 'not valid' }).waitFor()
    await page.getByLabel('Auth token').fill(weft.credentials.authToken)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('[CON-66] when the API key is rejected, the overview reports this, and shows neither figures nor readiness', async () => {
    const { page, complaints } = await openConsole(browser, {
      url: weft.url,
      credentials: { ...weft.credentials, authToken: 'not-the-right-token' },
    })
    await page.getByRole('alert').filter({ hasText: 'rejects the API key or the auth token' }).waitFor()
    expect(await page.getByText('ready', { exact: true }).count()).toBe(0)
    expect(await page.locator('.charts').count()).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('[CON-2] signs in by a link, and removes the credentials of the link from the address', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/overview' })
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain(weft.credentials.authToken)
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(complaints).toEqual([])
  })

  itLong(
    '[CON-2] signs in by a link in a tab that already shows the console, and removes the credentials from the address',
    async () => {
      const page = await browser.newPage()
      const { apiKey, authToken } = weft.credentials
      const follow = async (link: Record<string, string>) => {
        await page.evaluate(
          (hash) => {
            location.hash = hash
          },
          String(new URLSearchParams(link)),
        )
      }
      await page.goto(`${weft.url}/console`)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      const [accept, decline] = ['Sign in with this key', 'Do not sign in']
      const kept = () => page.evaluate(() => Object.values(sessionStorage).join(' '))
      await follow({ key: apiKey, token: authToken })
      await page.getByRole('button', { name: accept }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(page.url()).not.toContain(authToken)
      // The visitor keeps the session, or replaces it by that of the link.
      await follow({ key: 'key_of_a_stranger', token: 'of a stranger' })
      await page.getByRole('button', { name: decline }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(await kept()).not.toContain('stranger')
      await follow({ key: apiKey, token: 'of a colleague' })
      await page.getByRole('button', { name: accept }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(page.url()).not.toContain('colleague')
      expect(await kept()).toContain('colleague')
    },
  )

  itLong(
    '[CON-65] signs in by a link only after consent, shows server and API key, and clears the address immediately',
    async () => {
      const page = await browser.newPage()
      const { apiKey, authToken } = weft.credentials
      const kept = () => page.evaluate(() => sessionStorage.length)
      const calls: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/v')) calls.push(request.url())
      })
      await page.goto(`${weft.url}/console#${new URLSearchParams({ key: apiKey, token: authToken })}`)
      await page.getByText(apiKey).waitFor()
      await page.getByText(new URL(weft.url).host).waitFor()
      expect(page.url()).toBe(`${weft.url}/console#/`)
      expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2)
      expect([await kept(), calls]).toEqual([0, []])
      expect(await seriousFindings(page)).toEqual([])
      await page.getByRole('button', { name: 'Do not sign in' }).click()
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
      expect(await kept()).toBe(0)
      await page.goBack()
      expect(page.url()).not.toContain(authToken)
      const { workspaceId, workspaceAuthToken } = weft.credentials
      const members = { workspace: workspaceId, workspaceToken: workspaceAuthToken, admin: 'an-admin-token' }
      const link = new URLSearchParams({ key: apiKey, token: authToken, ...members })
      await page.goto('about:blank')
      await page.goto(`${weft.url}/console#${link}`)
      await page.getByRole('button', { name: 'Sign in with this key' }).click()
      const stored = await page.evaluate(() => sessionStorage.getItem('weft-credentials'))
      const metricsToken = 'an-admin-token'
      expect(JSON.parse(stored ?? '')).toEqual({
        apiKey,
        authToken,
        workspaceId,
        workspaceAuthToken,
        metricsToken,
      })
    },
  )

  itLong(
    '[CON-61] [CON-62] signs in by a file, including a file of a workspace, and shows the result of the last attempt',
    async () => {
      const page = await browser.newPage()
      const choose = (file: object) =>
        page.getByLabel('credentials.json').setInputFiles({
          name: 'credentials.json',
          mimeType: 'application/json',
          buffer: Buffer.from(JSON.stringify(file)),
        })
      await page.goto(`${weft.url}/console`)
      await page.getByLabel('API key').fill('of another server')
      await page.getByLabel('Auth token').fill('of another server')
      await page.getByRole('button', { name: 'Sign in' }).click()
      const told = page.getByRole('alert')
      await told.filter({ hasText: 'not valid' }).waitFor()
      await choose({ nothing: 'of use' })
      await told.filter({ hasText: 'no credentials' }).waitFor()
      const { workspaceId, workspaceAuthToken } = weft.credentials
      await choose({ workspaceId, workspaceAuthToken })
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
    },
  )

  itLong(
    '[CON-63] when the server does not have a script file any more, shows an error instead of a blank page',
    async () => {
      const { page } = await openConsole(browser, weft, { route: '/overview' })
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.route('**/console/*.js', (route) => route.fulfill({ status: 404, body: '' }))
      await page.getByRole('link', { name: 'Webhooks' }).click()
      await page.getByRole('alert').filter({ hasText: 'did not return this page' }).waitFor()
      await page.getByRole('button', { name: 'Reload' }).click()
      await page.getByText('reload the page').waitFor()
      await page.unroute('**/console/*.js')
      await page.reload()
      await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
      expect(await page.getByText('reload the page').count()).toBe(0)
    },
  )

  itLong('[CON-64] when a list could not be read, reads it again on request of the user', async () => {
    const { page } = await openConsole(browser, weft, { route: '/overview' })
    await page.evaluate((workspace) => {
      const place = 'weft-credentials'
      const kept = JSON.parse(sessionStorage.getItem(place) ?? '{}') as object
      sessionStorage.setItem(place, JSON.stringify({ ...kept, ...workspace }))
    }, weft.credentials)
    await page.route('**/apikeys/get', (route) => route.abort())
    await page.goto(`${weft.url}/console#/keys`)
    await page.reload()
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
    await page.unroute('**/apikeys/get')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('in use here').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  itLong('[CON-60] when a dialog closes, returns the focus to the element that opened it', async () => {
    const { page, complaints } = await openConsole(browser, weft, { route: '/keys' })
    const { workspaceId, workspaceAuthToken } = weft.credentials
    await page.getByLabel('Workspace id').fill(workspaceId)
    await page.getByLabel('Workspace auth token').fill(workspaceAuthToken)
    await page.keyboard.press('Enter')
    // Must be the last test: it invalidates the server's own workspace credentials.
    const button = page.getByRole('button', { name: 'Reset workspace token' })
    const isFocused = () => button.evaluate((element) => element === document.activeElement)
    const close = {
      cancel: () => page.getByRole('button', { name: 'Cancel' }).press('Enter'),
      escape: () => page.keyboard.press('Escape'),
      done: () =>
        page.getByRole('dialog').getByRole('button', { name: 'Reset workspace token' }).press('Enter'),
    }
    for (const how of ['cancel', 'escape', 'done'] as const) {
      await button.press('Enter')
      await page.getByRole('dialog').waitFor()
      await close[how]()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect([how, await isFocused()]).toEqual([how, true])
    }
    expect(complaints).toEqual([])
  })
})
