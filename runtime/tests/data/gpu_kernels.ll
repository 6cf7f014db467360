; The kernels of device_kernels.mlir for AMD. Shared memory and barriers in `reverse`.
target triple = "amdgcn-amd-amdhsa"

@run = internal addrspace(3) global [64 x float] poison, align 4

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare void @llvm.amdgcn.s.barrier()

define amdgpu_kernel void @affine(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n) #0 !reqd_work_group_size !0 {
entry:
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane = call i32 @llvm.amdgcn.workitem.id.x()
  %base = mul i32 %group, 64
  %i32 = add i32 %base, %lane
  %first = zext i32 %i32 to i64
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %groups = load i32, ptr addrspace(4) %implicit
  %threads = mul i32 %groups, 64
  %step = zext i32 %threads to i64
  br label %head
head:
  %i = phi i64 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %from = getelementptr float, ptr addrspace(1) %x, i64 %i
  %to = getelementptr float, ptr addrspace(1) %y, i64 %i
  %value = load float, ptr addrspace(1) %from
  %twice = fmul float %value, 2.0
  %sum = fadd float %twice, 1.0
  store float %sum, ptr addrspace(1) %to
  %next = add i64 %i, %step
  br label %head
done:
  ret void
}

define amdgpu_kernel void @reverse(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %runs) #0 !reqd_work_group_size !0 {
entry:
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %lane32 = call i32 @llvm.amdgcn.workitem.id.x()
  %lane = zext i32 %lane32 to i64
  %first = zext i32 %group to i64
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %groups = load i32, ptr addrspace(4) %implicit
  %step = zext i32 %groups to i64
  %slot = getelementptr float, ptr addrspace(3) @run, i32 %lane32
  %other32 = sub i32 63, %lane32
  %other = getelementptr float, ptr addrspace(3) @run, i32 %other32
  br label %head
head:
  %i = phi i64 [ %first, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %runs
  br i1 %more, label %body, label %done
body:
  %start = mul i64 %i, 64
  %at = add i64 %start, %lane
  %from = getelementptr float, ptr addrspace(1) %x, i64 %at
  %to = getelementptr float, ptr addrspace(1) %y, i64 %at
  %value = load float, ptr addrspace(1) %from
  store float %value, ptr addrspace(3) %slot
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %swapped = load float, ptr addrspace(3) %other
  store float %swapped, ptr addrspace(1) %to
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %next = add i64 %i, %step
  br label %head
done:
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="64,64" }
!0 = !{i32 64, i32 1, i32 1}
