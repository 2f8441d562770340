// SPDX-License-Identifier: Apache-2.0
// The last step of a batch on the GPU: 8 bit interleaved RGB to the batch's element type, values and layout, in one pass
// over the pixels. All arithmetic is in the table (runtime/finish_table.hpp), so the result is the host's to the bit.
//
// The program carries what the compiler makes of this as text, consumers/cuda/finish.ptx, which the driver translates for
// its GPU; so nobody needs CUDA to build feedring. After a change: consumers/cuda/make_ptx.sh. A test compares.

typedef unsigned char Byte;
typedef unsigned long long Size;

// Block x walks over the pixels of an image, block y over the images.
template <class Element>
__device__ void finish(const Byte* from, Element* to, const unsigned* table, Size pixels, Size images, unsigned planar) {
  __shared__ Element results[768];
  for (unsigned i = threadIdx.x; i < 768; i += blockDim.x) results[i] = static_cast<Element>(table[i]);
  __syncthreads();
  const Size channel = planar != 0 ? pixels : 1;
  for (Size image = blockIdx.y; image < images; image += gridDim.y) {
    const Byte* rgb = from + 3 * pixels * image;
    Element* out = to + 3 * pixels * image;
    for (Size p = static_cast<Size>(blockIdx.x) * blockDim.x + threadIdx.x; p < pixels;
         p += static_cast<Size>(gridDim.x) * blockDim.x) {
      Element* pixel = out + (planar != 0 ? p : 3 * p);
      pixel[0] = results[rgb[3 * p]];
      pixel[channel] = results[256 + rgb[3 * p + 1]];
      pixel[2 * channel] = results[512 + rgb[3 * p + 2]];
    }
  }
}

extern "C" __global__ void feedring_finish_1(const Byte* from, Byte* to, const unsigned* table, Size pixels, Size images,
                                             unsigned planar) {
  finish(from, to, table, pixels, images, planar);
}
extern "C" __global__ void feedring_finish_2(const Byte* from, unsigned short* to, const unsigned* table, Size pixels,
                                             Size images, unsigned planar) {
  finish(from, to, table, pixels, images, planar);
}
extern "C" __global__ void feedring_finish_4(const Byte* from, unsigned* to, const unsigned* table, Size pixels,
                                             Size images, unsigned planar) {
  finish(from, to, table, pixels, images, planar);
}
