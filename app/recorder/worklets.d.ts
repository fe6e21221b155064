/** A file that the bundler puts beside the script; what is imported is its address. */
declare module '*.worklet.js' {
  const address: string;
  export default address;
}
