export default {
  // Pages that are rendered on the server use the copy of Yjs that Weft uses in the same process.
  serverExternalPackages: ['yjs'],
}
