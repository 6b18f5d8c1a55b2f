/** The AssemblyScript file of this name, compiled by scripts/lib/assembly.mjs, as base64. */
declare module '*.wasm' {
  const base64: string;
  export default base64;
}

/** The part used here. The types of Node 20 do not include it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WebAssembly.Memory;
  readonly Instance: new (module: object) => { readonly exports: object };
};

declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
}
