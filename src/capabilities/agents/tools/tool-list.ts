import type { McpTool } from '../tool.ts'
import { commentTool } from './comment.ts'
import { editDocumentTool } from './edit-document.ts'
import { listChangesTool } from './list-changes.ts'
import { listDocumentsTool } from './list-documents.ts'
import { readDocumentTool } from './read-document.ts'
import { searchTool } from './search.ts'
import { suggestTool } from './suggest.ts'
import { undoMyChangesTool } from './undo-my-changes.ts'

/** All tools, in the order in which clients get them. */
export const toolList: readonly McpTool[] = [
  listDocumentsTool,
  searchTool,
  readDocumentTool,
  editDocumentTool,
  suggestTool,
  commentTool,
  listChangesTool,
  undoMyChangesTool,
]
