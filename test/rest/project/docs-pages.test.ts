import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientPackages } from '../../../src/build/client-packages.ts'
import { limitsTables } from '../../../src/build/limits-tables.ts'
import { operationList } from '../../../src/capabilities/list.ts'
import { errorCodes, httpCodes } from '../../../src/core/base/error-codes.ts'
import { environmentOf, flagOf, optionKeys } from '../../../src/core/config/config.ts'
import { closeCodes } from '../../../src/core/model/close.ts'
import { limitNames } from '../../../src/core/quota/limits.ts'
import { chapters, index, pathOf, pictures, readingOrder } from '../../../src/docs/chapters.ts'
import { fillTables } from '../../../src/docs/tables.ts'
import { describedPaths } from '../../../src/server/described-paths.ts'
import type { OpenApi } from '../../support/data/example-calls.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

const folder = join(import.meta.dirname, '../../..', 'src', 'docs')
const files = [index, ...chapters].map(({ name }) => name)
const textOf = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8')
/** The text of a chapter without its samples, in which nothing is a link. */
const proseOf = (name: string): string => textOf(name).replaceAll(/^ *```[\s\S]*?^ *```/gm, '')

let server: TestServer
let document: OpenApi
const seen = new Map<string, string>()
beforeAll(async () => {
  server = await startTestServer()
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi
})
afterAll(() => server?.stop())

async function pageAt(path: string): Promise<string> {
  const known = seen.get(path)
  if (known !== undefined) return known
  const answer = await fetch(server.url + path)
  expect({ path, status: answer.status }).toEqual({ path, status: 200 })
  const text = await answer.text()
  seen.set(path, text)
  return text
}

/** The requests that are not calls of operations, by method and path. */
const requests = describedPaths.flatMap(({ path, methods }) =>
  Object.entries(methods).map(([method, described]) => ({
    ...described,
    target: `${method.toUpperCase()} ${path}`,
  })),
)
const allTargets = [...operationList.map(({ path }) => path), ...requests.map(({ target }) => target)]
const tags = [
  ...new Set([
    ...operationList.map(({ path }) => path.split('/')[2] as string),
    ...requests.map(({ tag }) => tag),
  ]),
]
const pages = [
  ...[index, ...chapters].map(pathOf),
  '/docs/reference',
  ...tags.map((tag) => `/docs/reference/${tag}`),
]

const linksOf = (html: string): string[] => [...html.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => to)
const idsOf = (html: string): string[] => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)

describe.each(pages)('%s', (path) => {
  it('[GUIDE-1] the page loads nothing from other servers, and has no inline code', async () => {
    const answer = await fetch(server.url + path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'; style-src 'self';")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    const html = await answer.text()
    expect(html).not.toMatch(
      /<script(?! type="module" src="\/docs\/script\.js"><\/script>)|<style|<img (?!src="\/docs\/pictures\/)|<iframe|<\w[^>]*( style=| on\w+=)/,
    )
    const loaded = [...html.matchAll(/<link (?!rel="alternate")[^>]*href="([^"]*)"/g)].map(([, from]) => from)
    expect(loaded).toEqual(['data:,', '/docs/style.css'])
    expect(await (await fetch(server.url + path)).text()).toBe(html)
  })

  it('[GUIDE-2] the page has no broken link, and links to every chapter', async () => {
    const html = await pageAt(path)
    const own = idsOf(html)
    expect(own).toEqual([...new Set(own)])
    expect(html.match(/<h1/g)).toHaveLength(1)
    const links = linksOf(html).filter((to) => !/^(data|https?):/.test(to))
    for (const link of links) {
      const [target = '', id] = link.split('#')
      const there = target === '' ? html : await pageAt(target)
      if (id !== undefined)
        expect({ link, ids: idsOf(there) }).toMatchObject({ ids: expect.arrayContaining([id]) })
    }
    expect(links).toEqual(expect.arrayContaining(chapters.map(pathOf)))
  })
})

const errorPages = Object.keys(errorCodes).map((code) => `/docs/errors/${code}`)
const markdownOf = (path: string): string => (path === '/docs' ? '/docs/README.md' : `${path}.md`)

it.each([...[index, ...chapters].map(pathOf), errorPages[0] as string])(
  '[GUIDE-29] %s is also served as Markdown, and its links lead to Markdown',
  async (path) => {
    const html = await pageAt(path)
    expect(html).toContain(`<link rel="alternate" type="text/markdown" href="${markdownOf(path)}">`)
    const answer = await fetch(server.url + markdownOf(path))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    const text = await answer.text()
    const [, title] = /<h1>(.*)<\/h1>/.exec(html) ?? []
    expect(text.split('\n')[0]).toBe(`# ${title}`)
    const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    const targets = [...prose.matchAll(/\]\(([^)#\s]*)[^)]*\)/g)].map(([, to = '']) => to)
    const local = [...new Set(targets)].filter((to) => to !== '' && !/^(https?|mailto):/.test(to))
    for (const to of local) {
      expect(to).toMatch(/^\/docs\/(.*\.md|pictures\/.*|reference(\/.*)?)$/)
      await pageAt(to)
    }
  },
)

it('[GUIDE-29] /llms.txt lists the Markdown of each chapter, with its contents', async () => {
  const answer = await fetch(`${server.url}/llms.txt`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const text = await answer.text()
  expect(text).toMatch(/^# Weft\n\n> Weft is [^\n]+\n\n## /)
  const listed = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.*$/gm)].map(([, to = '']) => to)
  expect(listed).toEqual(expect.arrayContaining([...chapters.map(pathOf).map(markdownOf), '/openapi.json']))
  for (const to of listed) await pageAt(to)
})

it('[GUIDE-1] serves the pictures of the chapters', async () => {
  expect(readdirSync(join(folder, 'pictures')).sort()).toEqual([...pictures])
  for (const name of pictures) {
    const answer = await fetch(`${server.url}/docs/pictures/${name}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
  }
})

describe('the chapters in the repository', () => {
  it('[GUIDE-2] the folder of chapters has exactly the listed chapters, and each begins with its title', () => {
    const there = readdirSync(folder).filter((name) => name.endsWith('.md'))
    expect(there.sort()).toEqual(files.map((name) => `${name}.md`).sort())
    for (const { name, title } of chapters) expect(textOf(name).split('\n')[0]).toBe(`# ${title}`)
  })

  it('[GUIDE-30] has at most 30 chapters with at most 45,000 words, with samples and tables', () => {
    expect(chapters.length).toBeLessThanOrEqual(30)
    expect(files.flatMap((name) => textOf(name).trim().split(/\s+/)).length).toBeLessThanOrEqual(45_000)
  })

  it.each(files)('[GUIDE-2] %s.md has no broken link', (name) => {
    const links = [...proseOf(name).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to)
    const local = links.filter((to) => !/^https?:/.test(to) && !to.startsWith('#'))
    const paths = local.map((to) => to.split('#')[0] as string)
    expect(paths.filter((path) => !existsSync(resolve(folder, path)))).toEqual([])
  })

  it('[PKG-62] the chapter of the packages for pages and backends has the commands that install them', () => {
    const commands = Object.values(clientPackages).map(
      ({ name, peers }) => `\nnpm install ${[name, ...peers].join(' ')}\n`,
    )
    expect(commands.filter((command) => !textOf('client').includes(command))).toEqual([])
  })

  it('[GUIDE-2] the index lists all chapters in order', () => {
    const listed = [...textOf(index.name).matchAll(/^\d+\. \[[^\]]+\]\(([\w-]+)\.md\)/gm)].map(
      ([, name]) => name,
    )
    expect(listed).toEqual(chapters.map(({ name }) => name))
  })

  it('[GUIDE-3] the generated tables in the chapters are current; otherwise run `npm run docs:tables`', () => {
    for (const name of files) expect(textOf(name)).toBe(fillTables(textOf(name), limitsTables))
    for (const [name, table] of Object.entries({
      limits: 'limits',
      options: 'configuration',
      metrics: 'operations',
    }))
      expect(textOf(table)).toContain(`<!-- ${name} -->\n\n|`)
  })

  it('[GUIDE-10] lists the maximum numbers of records, such as endpoints and folders, in the chapter on limits', () => {
    for (const row of ['| API key | endpoints | 250 |', '| organization | folders | 10,000 |'])
      expect(textOf('limits')).toContain(`\n${row}\n`)
  })

  it('[GUIDE-26] has a row for each close code and HTTP code in the chapter on troubleshooting', () => {
    const rows = textOf('troubleshooting')
    for (const code of [...Object.values(closeCodes), ...Object.values(httpCodes)])
      expect(rows).toMatch(new RegExp(`^\\| ${code}\\b`, 'm'))
  })

  it('[GUIDE-3] lists every configurable limit in the chapter on limits', () => {
    for (const name of limitNames) expect(textOf('limits')).toContain(`\n| \`${name}\``)
  })
})

const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
const plain = (html: string): string =>
  Object.entries(entities).reduce((text, [from, to]) => text.replaceAll(from, to), html)

it('[GUIDE-4] describes every operation in the reference, with a call that sends the example of the operation', async () => {
  for (const { path, summary, description, auth, errors } of operationList) {
    const page = plain((await pageAt(`/docs/reference/${path.split('/')[2]}`)).replaceAll(/<\/?code>/g, '`'))
    const [, after = ''] = page.split(`POST ${path}\``)
    const [section] = after.split('<h2 ')
    expect(page).toContain(summary)
    expect(section).toContain(description)
    for (const { when } of errors) expect(section).toContain(when)
    const body = document.paths[path]?.post.requestBody.content['application/json'].examples.done?.value
    const [, sent = ''] = /-d '(.*)'\n/.exec(section ?? '') ?? []
    expect(JSON.parse(sent.replaceAll("'\\''", "'"))).toEqual(body)
    const header = {
      key: 'x-service-api-key',
      workspace: 'x-service-workspace-id',
      operator: 'x-service-admin-token',
    }
    expect(section).toContain(`-H "${header[auth]}: $`)
    expect(await pageAt('/docs/reference')).toContain(`<code>${path}</code>`)
  }
})

it('[GUIDE-10] states every maximum of a request in the reference', async () => {
  for (const { path, request } of operationList) {
    const page = await pageAt(`/docs/reference/${path.split('/')[2]}`)
    const [, after = ''] = page.split(`POST ${path}<`)
    const [section = ''] = after.split('<h2 ')
    const bounds = JSON.stringify(request).matchAll(/"max(?:imum|Length|Items)":(\d+)/g)
    for (const [, bound = ''] of bounds)
      expect({ path, section }).toMatchObject({
        section: expect.stringMatching(new RegExp(`at most ${bound}\\b`, 'i')),
      })
  }
})

it('[GUIDE-4] describes the streams and sync over HTTP in the reference, with each parameter and error', async () => {
  expect(requests.length).toBeGreaterThan(4)
  for (const { target, tag, summary, description, parameters, answer, errors } of requests) {
    const page = plain((await pageAt(`/docs/reference/${tag}`)).replaceAll(/<\/?code>/g, '`'))
    const [, after = ''] = page.split(`<p>\`${target}\`</p>`)
    const [section = ''] = after.split('<h2 ')
    expect(page).toContain(summary)
    expect(section).toContain(description)
    for (const { name, description } of parameters) {
      const [row = ''] = section.split(`<td>\`${name}\``)[1]?.split('</tr>') ?? []
      expect(row).toContain(description)
    }
    for (const { when } of errors) expect(section).toContain(when)
    if (typeof answer.example === 'string') expect(section).toContain(answer.example.trimEnd())
  }
})

it('[GUIDE-21] lists all operations at the top of the reference, beginning with the ones that users need first', async () => {
  const page = await pageAt('/docs/reference')
  const listed = [...page.matchAll(/<li><a [^>]*><code>([^<]+)<\/code>/g)].map(([, path = '']) => path)
  expect(listed.toSorted()).toEqual(allTargets.toSorted())
  expect(listed.slice(0, 3)).toEqual(['/v2/crdt/add', '/v2/crdt/get', '/v2/crdt/update'])
  expect(listed.find((path) => !path.includes('/v2/crdt/'))).toBe('/v2/auth/generate_token')
  const resourceOf = (path: string): string => path.slice(3, path.lastIndexOf('/'))
  const late = listed.filter((path, at) => {
    const next = listed[at + 1] ?? ''
    return (
      /\/(delete|remove)$/.test(path) && !next.endsWith('/delete') && resourceOf(next) === resourceOf(path)
    )
  })
  expect(late).toEqual([])
})

interface SearchEntry {
  readonly path: string
  readonly page: string
  readonly section: string
  readonly operation?: string
  readonly text: string
}

describe('/docs/search.json', () => {
  let entries: readonly SearchEntry[]
  beforeAll(async () => {
    const answer = await fetch(`${server.url}/docs/search.json`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    entries = (await answer.json()) as readonly SearchEntry[]
  })
  const sections = (): readonly string[] => entries.map(({ section }) => section)

  it('[GUIDE-22] the search index leads only to existing pages and anchors', async () => {
    expect(new Set(entries.map(({ path }) => path)).size).toBe(entries.length)
    for (const { path } of entries) {
      const [target = '', id] = path.split('#')
      const html = await pageAt(target)
      if (id !== undefined)
        expect({ path, ids: idsOf(html) }).toMatchObject({ ids: expect.arrayContaining([id]) })
    }
  })

  it('[GUIDE-22] the search index contains each chapter and its sections', () => {
    const paths = new Set(entries.map(({ path }) => path))
    for (const chapter of [index, ...chapters]) {
      expect(entries).toContainEqual(
        expect.objectContaining({ path: pathOf(chapter), page: chapter.title, section: '' }),
      )
      if (chapter.name === 'errors') continue
      const anchors = [...(seen.get(pathOf(chapter)) ?? '').matchAll(/<h[2-4] id="([^"]*)"/g)]
      expect(
        anchors.map(([, id = '']) => `${pathOf(chapter)}#${id}`).filter((path) => !paths.has(path)),
      ).toEqual([])
    }
  })

  it('[GUIDE-22] the search index contains each operation, option, metric, limit and error code', () => {
    expect(
      entries
        .map(({ operation }) => operation)
        .filter((path) => path !== undefined)
        .toSorted(),
    ).toEqual(allTargets.toSorted())
    const options = optionKeys.map((key) => flagOf(key) ?? environmentOf(key))
    const metrics = [...textOf('operations').matchAll(/^\| `(weft_\w+)` \|/gm)].map(([, name = '']) => name)
    expect(metrics.length).toBeGreaterThan(20)
    const names = new Set(sections())
    for (const all of [options, metrics, limitNames, Object.keys(errorCodes)])
      expect(all.filter((name) => !names.has(name))).toEqual([])
  })
})

it('[GUIDE-25] ends each page with links to the previous and the next page', async () => {
  const neighborsOf = async (path: string): Promise<(string | undefined)[]> => {
    const html = await pageAt(path)
    const end = html.slice(html.indexOf('<nav class="neighbors"'), html.indexOf('</main>'))
    return ['prev', 'next'].map((rel) => new RegExp(`rel="${rel}" href="([^"]+)"`).exec(end)?.[1])
  }
  const order = readingOrder.map(pathOf)
  expect(order).toContain('/docs/reference')
  for (const [at, path] of order.entries())
    expect({ path, neighbors: await neighborsOf(path) }).toEqual({
      path,
      neighbors: [order[at - 1], order[at + 1]],
    })
  expect(await neighborsOf('/docs/reference/auth')).toEqual([
    '/docs/reference/crdt',
    '/docs/reference/organizations',
  ])
})
