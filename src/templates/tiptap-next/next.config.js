export default {
  // All pages that are rendered on the server use one copy of Yjs.
  serverExternalPackages: ['yjs'],
}
