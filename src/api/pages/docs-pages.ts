import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { builtFile, packageFile } from '../../config/package-file.ts'
import { chapters, errorChapter, index, pathOf, pictures } from '../../docs/chapters.ts'
import { renderPage } from '../../docs/layout.ts'
import { type ErrorCode, errorCodes } from '../../error-codes.ts'
import { ApiError } from '../../errors.ts'
import type { PageBody, PageRoute } from './page-route.ts'

const nothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
/** All content comes from this server, without scripts. */
const readingPolicy = `${nothing}; style-src 'self'; img-src 'self' data:`
/** All content comes from files of this server, without inline scripts. */
const tryingPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** The rendered documentation of the build, and Swagger UI, which can call every operation. */
export const docsPages = (): readonly PageRoute[] => [
  ...[index, ...chapters].map((chapter) => filePage(pathOf(chapter), `docs/${chapter.name}.html`)),
  ...(Object.keys(errorCodes) as ErrorCode[]).map((code) => ({
    ...filePage(`/docs/errors/${code}`, `docs/errors/${code}.html`),
    route: unknownErrorPage.path,
  })),
  unknownErrorPage,
  filePage('/docs/style.css', 'docs/style.css'),
  ...pictures.map((name) => filePage(`/docs/pictures/${name}`, `docs/pictures/${name}`)),
  ...explorerPages(),
]

/** For readers of a code that the server does not have, for example of another version. */
const unknownErrorPage: PageRoute = {
  path: '/docs/errors/*code',
  calls: 1,
  content({ headers }) {
    const problem = 'there is no error of this code; /docs/errors lists all'
    if (!headers.accept?.includes('text/html')) throw new ApiError('request/unknown-path', problem)
    const title = 'Unknown error code'
    const body = `<h1>${title}</h1>\n<p>This server has no error of this code. <a href="/docs/errors">All codes</a></p>\n`
    return {
      ...page(
        typeOf('.html'),
        renderPage({ title, chapter: errorChapter, sections: [], body }),
        readingPolicy,
      ),
      httpCode: 404,
    }
  },
}

/** A page of the documentation, created on the first request and cached. */
export function lazyPage(path: string, make: () => string): PageRoute {
  let made: Buffer | null = null
  const content = () => {
    made ??= Buffer.from(make())
    return page(typeOf('.html'), made, readingPolicy)
  }
  return { path, calls: 1, content }
}

const explorer = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Weft: REST service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/api/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/api/swagger-ui-bundle.js"></script>
    <script src="/docs/api/start.js"></script>
  </body>
</html>
`

/** Runs in the browser. Credentials stay in the page's memory, and no validator elsewhere sees the document. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  docExpansion: 'list',
  displayRequestDuration: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

const explorerPages = (): readonly PageRoute[] => [
  { path: '/docs/api', calls: 1, content: () => page(typeOf('.html'), explorer, tryingPolicy) },
  {
    path: '/docs/api/start.js',
    calls: 1,
    content: () => page(typeOf('start.js'), startScript, tryingPolicy),
  },
  swaggerPage('swagger-ui.css'),
  swaggerPage('swagger-ui-bundle.js'),
]

/** The files of Swagger UI: from the build, or from the package if the sources run directly. */
const swaggerPage = (name: string): PageRoute =>
  filePage(
    `/docs/api/${name}`,
    `api/swagger-ui/${name}`,
    tryingPolicy,
    `node_modules/swagger-ui-dist/${name}`,
  )

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
}

const typeOf = (name: string): string => types[name.slice(name.lastIndexOf('.') + 1)] as string

/** A file of the build, read on the first request and cached. @param source path if the sources run directly */
function filePage(path: string, built: string, policy = readingPolicy, source?: string): PageRoute {
  let read: Buffer | null = null
  return {
    path,
    calls: 1,
    async content() {
      read ??= await bytesOf([builtFile(built), ...(source === undefined ? [] : [packageFile(source)])])
      return page(typeOf(built), read, policy)
    },
  }
}

async function bytesOf(places: readonly URL[]): Promise<Buffer> {
  const file = places.find((place) => existsSync(place))
  if (file === undefined)
    throw new ApiError('server/no-documentation', 'the documentation is not built; run `npm run build`')
  return readFile(file)
}

const page = (type: string, text: string | Buffer, contentSecurityPolicy: string) =>
  ({ kind: 'text', type, text, contentSecurityPolicy }) as const satisfies PageBody
