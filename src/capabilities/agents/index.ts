import { defineCapability } from '../../rest/capability.ts'
import { mcpRoute } from './mcp-route.ts'

/** The MCP server, through which agents read and edit documents. */
export const agents = defineCapability({
  name: 'agents',
  routes: (services, edge) => [mcpRoute(services, edge)],
})
