import { chapters, index, pathOf } from './chapters.ts'

const localDocs = 'http://localhost:8787/docs'

/**
 * Returns the target that a chapter's link has on a server; null if it leads to a file that is only in the
 * repository.
 */
export function linkTarget(href: string): string | null {
  if (href.startsWith(localDocs)) return href.slice('http://localhost:8787'.length)
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [, name, anchor = ''] = /^([a-z-]+|README)\.md(#.*)?$/.exec(href) ?? []
  const chapter = [index, ...chapters].find((each) => each.name === name)
  return chapter === undefined ? null : pathOf(chapter) + anchor
}

/** Returns the path of the Markdown of a page. The pages of the reference have none; `/openapi.json` has their data. */
export const markdownPathOf = (path: string): string =>
  path === pathOf(index) ? `/docs/${index.name}.md` : `${path}.md`

/** Returns the Markdown of a page as a server publishes it: its links lead to the Markdown of other pages. */
export const markdownPage = (text: string): string =>
  text
    .split(/(^ *```[\s\S]*?^ *```)/m)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replaceAll(/(!?)\[([^[\]]*)\]\(([^()[\]\s]+)\)/g, servedLink),
    )
    .join('')

function servedLink(_link: string, image: string, label: string, href: string): string {
  if (image !== '') return `![${label}](/docs/${href})`
  const target = linkTarget(href)
  if (target === null) return label
  const [path = '', anchor] = target.split('#')
  const isPage = path.startsWith('/docs') && !path.startsWith('/docs/reference')
  return `[${label}](${isPage ? markdownPathOf(path) : path}${anchor === undefined ? '' : `#${anchor}`})`
}

/**
 * Returns the text of `/llms.txt`, in the form of https://llmstxt.org: the purpose, and a link to the Markdown of each
 * chapter.
 * @param text Markdown of the index
 */
export function llmsText(text: string): string {
  const [title, purpose = ''] = text.split('\n\n')
  const chapterList = [...text.matchAll(/^(?:## .*|\d+\. \[.*)$/gm)]
    .map(([line]) => line.replace(/^\d+\./, '-'))
    .filter((line, at, lines) => line.startsWith('-') || lines[at + 1]?.startsWith('-'))
    .map((line) => (line.startsWith('-') ? line : `\n${line}\n`))
  const list = markdownPage(`${title}\n\n> ${purpose.split(' Begin with ')[0]}\n${chapterList.join('\n')}\n`)
  return `${list}- [OpenAPI document](/openapi.json): all operations, for programs.\n`
}
