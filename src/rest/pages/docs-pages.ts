import { existsSync, readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { errorCodes } from '../../core/base/error-codes.ts'
import { ApiError } from '../../core/base/errors.ts'
import { builtFile } from '../../core/base/package-file.ts'
import { chapters, errorChapter, index, pathOf, pictures, referenceChapter } from '../../docs/chapters.ts'
import { renderPage } from '../../docs/layout.ts'
import type { PageBody, PageRoute } from '../http/page-route.ts'
import { ownFilesPolicy } from './page-policy.ts'
import { StaticFile } from './static-file.ts'

/**
 * Returns the rendered pages of the documentation.
 * @param tags tags of the operations; each has a page in the reference
 */
export const docsPages = (tags: readonly string[]): readonly PageRoute[] => [
  ...[index, ...chapters, referenceChapter].map((chapter) =>
    filePage(pathOf(chapter), `${chapter.name}.html`),
  ),
  errorPages(),
  ...tags.map((tag) => filePage(`${pathOf(referenceChapter)}/${tag}`, `reference/${tag}.html`)),
  filePage('/openapi.json', 'reference/openapi.json'),
  // Redirects the address of a page on which readers of earlier versions called the operations.
  { path: '/docs/api', calls: 1, content: () => ({ kind: 'redirect', to: pathOf(referenceChapter) }) },
  filePage('/docs/style.css', 'style.css'),
  ...pictures.map((name) => filePage(`/docs/pictures/${name}`, `pictures/${name}`)),
  ...scriptPages(),
]

/** Returns the pages of the error codes. A client can ask for a code of another version, which has no page. */
function errorPages(): PageRoute {
  const codes = Object.keys(errorCodes)
  const contents = new Map(codes.map((code) => [code, fileContent(`errors/${code}.html`)]))
  return {
    path: '/docs/errors/*code',
    route: '/docs/errors/*',
    calls: 1,
    content(request) {
      const [, code = ''] = /\/errors\/([^?]*)/.exec(request.url ?? '') ?? []
      return contents.get(code)?.(request) ?? unknownErrorPage(request)
    },
  }
}

function unknownErrorPage({ headers }: IncomingMessage): PageBody {
  const problem = 'there is no error with this code; /docs/errors lists all codes'
  if (!headers.accept?.includes('text/html')) throw new ApiError('request/unknown-path', problem)
  const title = 'Unknown error code'
  const body = `<h1>${title}</h1>\n<p>This server has no error with this code. <a href="/docs/errors">All codes</a></p>\n`
  return { ...htmlPage(renderPage({ title, chapter: errorChapter, sections: [], body })), httpCode: 404 }
}

const htmlPage = (text: string) =>
  ({
    kind: 'text',
    type: types.html,
    text,
    contentSecurityPolicy: ownFilesPolicy,
  }) as const satisfies PageBody

/**
 * Returns the built scripts of the pages and the search index. Returns no pages if they are not built. Source
 * maps are not served.
 */
function scriptPages(): readonly PageRoute[] {
  const folder = builtFile('docs/')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => /\.js(on)?$/.test(name))
    .map((name) => filePage(`/docs/${name}`, name))
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
} as const

const typeOf = (name: string): string => types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types]

const filePage = (path: string, name: string): PageRoute => ({ path, calls: 1, content: fileContent(name) })

/**
 * Returns the content of a built file.
 * @param name path in the folder of the documentation
 */
function fileContent(name: string): (request: IncomingMessage) => Promise<PageBody> {
  const place = builtFile(`docs/${name}`)
  const file = new StaticFile(place, {
    type: typeOf(name),
    contentSecurityPolicy: ownFilesPolicy,
    isImmutable: false,
  })
  return async (request) => {
    if (!existsSync(place))
      throw new ApiError('server/no-documentation', 'the documentation is not built; run `npm run build`')
    return file.content(request)
  }
}
