import { setTimeout as wait } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { clockToleranceSeconds } from '../../src/core/access/tokens/realtime-tokens.ts'
import { errorMessage } from '../../src/core/base/errors.ts'
import type { Semaphore } from '../../src/core/base/semaphore.ts'
import type { PackageFolder } from './package-folder.ts'
import { PageOfUser } from './page-of-user.ts'
import { Project, tokenSeconds } from './project.ts'
import type { TemplateCase } from './templates.ts'

export interface WalkOptions {
  readonly name: string
  readonly template: TemplateCase
  /** Folder with the installed package. */
  readonly installed: PackageFolder
  /** Empty folder for the project. */
  readonly parent: string
  /** Limits how many projects are installed and built at the same time. */
  readonly preparations: Semaphore
  readonly browser: Browser
}

/**
 * Creates an app from a template, and uses it with three users. Prints one line for each step.
 * @throws Error with the title of the step that fails
 */
export async function walk({
  name,
  template,
  installed,
  parent,
  preparations,
  browser,
}: WalkOptions): Promise<void> {
  const step = async <T>(title: string, run: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    try {
      const result = await run()
      console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${name}: ${title}`)
      return result
    } catch (error) {
      throw new Error(`${name}: ${title}: ${errorMessage(error)}`, { cause: error })
    }
  }
  const open = (user: string, role?: string): Promise<PageOfUser> =>
    PageOfUser.open(browser, project.url, template, { name: user, ...(role !== undefined && { role }) })

  const project = await Project.in(parent, name)
  try {
    await preparations.run('', async () => {
      await step('[TPL-4] is created from the tarball, and its packages are installed', () =>
        project.create(installed),
      )
      await step('[TPL-5] `npm run dev` serves an editor whose text is saved', async () => {
        await project.start('run dev')
        const ada = await open('Ada')
        await ada.shows('saved')
        await ada.showsRole('editor', true)
        // StrictMode of React mounts each editor twice in development.
        await ada.type('Undone. ')
        await ada.undo('Undone.')
        await ada.type('Written in development. ')
        await ada.shows('saved')
        await ada.close()
        await project.end()
      })
      await step('[TPL-5] is built, and `npm start` serves what was written before', async () => {
        await project.build()
        await project.start('start')
      })
    })

    const [ada, grace, lin] = await step(
      '[TPL-6] two users see the text, the names and the carets of each other',
      async () => {
        const pages = await Promise.all([open('Ada'), open('Grace'), open('Lin', 'viewer')])
        for (const page of pages) await page.has('Written in development.')
        const [first, second] = pages
        await first.showsRole('editor', true)
        await second.showsRole('editor', true)
        await first.type('From Ada. ')
        await second.has('From Ada.')
        await second.type('From Grace. ')
        await first.has('From Grace.')
        for (const page of [first, second]) await page.shows('saved')
        await first.showsUser('Grace')
        await second.showsUser('Ada')
        await first.undo('From Ada.')
        await second.lacks('From Ada.')
        await second.has('From Grace.')
        await first.type('Again from Ada. ')
        await second.has('Again from Ada.')
        await first.showsCaretOf('Grace')
        await second.showsCaretOf('Ada')
        return pages
      },
    )
    const { plain, gzip } = await ada.scriptSize()
    console.log(`          ${name}: the page loads ${plain} kB of scripts, ${gzip} kB with gzip`)
    if (plain === 0 || gzip > template.gzipKilobytesMax)
      throw new Error(`${name}: the scripts have more than ${template.gzipKilobytesMax} kB with gzip`)

    if (template.hasComments)
      await step('[TPL-11] comments, replies and their status are shown to the others', async () => {
        await ada.commentOnEnd('from Ada. ', 'Who wrote this?')
        for (const page of [ada, grace, lin]) await page.showsThread('open', 'from Ada.', 'Who wrote this?')
        await grace.reply('Who wrote this?', 'I do not know.')
        for (const page of [ada, grace, lin]) await page.showsThread('open', 'Grace I do not know.')
        await grace.comment('About everything.')
        await ada.showsThread('open', 'About everything.')
        await ada.resolve('Who wrote this?')
        for (const page of [ada, grace, lin]) await page.showsThread('resolved', 'Grace I do not know.')
        await lin.showsThread('open', 'About everything.')
        if ((await lin.commentFields()) > 0) throw new Error('a viewer can write comments')
      })
    if (template.hasSuggestions)
      await step(
        '[TPL-12] a suggestion is shown in the text, and another user accepts it there',
        async () => {
          await grace.suggest(true)
          await grace.has('From Grace.')
          await grace.type('Suggested by Grace. ')
          await ada.accept('Suggested by Grace.')
          await grace.suggest(false)
          for (const page of [ada, grace, lin]) await page.has('Suggested by Grace.')
        },
      )
    await step('[TPL-7] a viewer reads, and cannot type', async () => {
      await lin.showsRole('viewer', false)
      await lin.type('From a viewer. ')
      await ada.type('After the viewer. ')
      await lin.has('After the viewer.')
      for (const page of [ada, lin])
        if ((await page.text()).includes('From a viewer')) throw new Error('the text of a viewer is shown')
      await lin.changeRole('viewer', 'editor')
    })

    await grace.setNetwork(false)
    const offlineAt = performance.now()
    await step('[TPL-8] a page without a network reports that, and continues', async () => {
      await grace.type('Offline. ')
      await grace.shows('offline')
    })
    await step('[TPL-8] tokens are renewed over the open connection', () => ada.renews())
    await step('[TPL-7] a role that changes while the page is open is shown and has an effect', async () => {
      await lin.showsRole('editor', true)
      await lin.type('Undone by Lin. ')
      await lin.undo('Undone by Lin.')
      await lin.type('From Lin. ')
      await ada.has('From Lin.')
    })
    await step(
      '[TPL-8] after an offline time that is longer than the token is valid, both texts are merged',
      async () => {
        const expiresMs = (tokenSeconds + clockToleranceSeconds) * 1000
        await wait(Math.max(0, expiresMs - (performance.now() - offlineAt)))
        const { tokens } = grace.counts
        await grace.setNetwork(true)
        await grace.shows('saved')
        if (grace.counts.tokens === tokens) throw new Error('the page has requested no new token')
        await grace.has('From Lin.')
        await ada.has('Offline.')
      },
    )
    await step('[TPL-8] offline text survives the end of its page', async () => {
      await grace.setNetwork(false)
      await grace.type('Closed offline. ')
      await grace.shows('offline')
      await grace.reopen()
      await grace.shows('saved')
      await ada.has('Closed offline.')
    })

    await step(
      '[TPL-9] after SIGTERM and a start, pages are connected again, and their texts are merged',
      async () => {
        const pages = [ada, grace, lin]
        for (const page of pages) page.expectNetwork(false)
        await project.end()
        await ada.shows('offline')
        await ada.type('While the server was off. ')
        await project.start('start')
        for (const page of pages) {
          await page.shows('saved')
          await page.has('While the server was off.')
          page.expectNetwork(true)
        }
        const texts = new Set(await Promise.all(pages.map((page) => page.text())))
        if (texts.size !== 1) throw new Error(`the pages have different texts: ${[...texts].join('\n')}`)
      },
    )
    await step('[TPL-10] no page had an error or a warning, and no server a warning', async () => {
      for (const page of [ada, grace, lin]) await page.close()
      await project.end()
    })
  } catch (error) {
    console.error(project.out)
    throw error
  } finally {
    await project.end()
  }
}
